// What a field looks like: Grafana's own step for this needs its application around it.
import {
  createTheme,
  DataFrame,
  Field,
  fieldMatchers,
  FieldType,
  getDisplayProcessor,
  getFieldDisplayName,
} from '@grafana/data';

export const theme = createTheme({ colors: { mode: 'dark' } });

/** Gives every field its configuration: the panel's, and what differs for it. */
export function configured(panel: any, frames: DataFrame[]): DataFrame[] {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  let place = 0;
  for (const frame of frames) {
    for (const field of frame.fields) {
      if (field.type !== FieldType.time) {
        configure(field, frame, frames, defaults, overrides);
        field.state = { ...field.state, seriesIndex: place++ };
        if (field.type === FieldType.number) {
          field.state.range = range(field);
        }
      }
      field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
    }
  }
  return frames;
}

function configure(field: Field, frame: DataFrame, frames: DataFrame[], defaults: any, overrides: any[]) {
  const { displayName, displayNameFromDS } = field.config;
  const config: any = { ...structuredClone(defaults), displayName, displayNameFromDS };
  config.custom = { ...defaults.custom };
  for (const { matcher, properties } of overrides) {
    // By the name that people see: Grafana matches by it too.
    const name = getFieldDisplayName(field, frame, frames);
    const matches =
      matcher.id === 'byName' ? name === matcher.options : fieldMatchers.get(matcher.id).get(matcher.options)(field, frame, frames);
    for (const { id, value } of matches ? properties : []) {
      if (id.startsWith('custom.')) {
        config.custom[id.slice('custom.'.length)] = value;
      } else {
        config[id] = value;
      }
    }
  }
  for (const link of config.links ?? []) {
    field.getLinks = () => [{ href: link.url, title: link.title, target: '_blank', origin: field }];
  }
  field.config = config;
}

function range(field: Field) {
  const numbers = field.values.filter((value: unknown) => typeof value === 'number');
  const min = field.config.min ?? Math.min(...numbers);
  const max = field.config.max ?? Math.max(...numbers);
  return { min, max, delta: max - min };
}
