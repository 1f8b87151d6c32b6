// From a panel's queries to the frames that Grafana's components draw.
import {
  DataFrame,
  DataTransformerConfig,
  FieldType,
  standardTransformers,
  standardTransformersRegistry,
  toDataFrame,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';

const asked = new URLSearchParams(location.search);
export const BOARD = asked.get('board') ?? 'overview';
export const FROM = Number(asked.get('from'));
export const TO = Number(asked.get('to'));
/** How far apart the points of a line are, in seconds. */
const STEP = Math.max(15, Math.ceil((TO - FROM) / 180 / 15) * 15);

const transformers = [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer];
standardTransformersRegistry.setInit(() =>
  transformers.map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation,
    editor: () => null as never,
    imageDark: '',
    imageLight: '',
  }))
);

/** A query with Grafana's words filled in: everything of everything, scraped every 15 s. */
function filled(query: string): string {
  return query
    .replaceAll('$__rate_interval', `${Math.max(60, STEP + 15)}s`)
    .replaceAll('$__range', `${TO - FROM}s`)
    .replace(/\$(job|instance|cluster|namespace|provider|pool)\b/g, '.*');
}

type Series = { metric: Record<string, string>; value?: [number, string]; values?: Array<[number, string]> };

async function ask(path: string, parameters: Record<string, string | number>): Promise<Series[]> {
  const body = new URLSearchParams(Object.entries(parameters).map(([key, value]) => [key, String(value)]));
  const answer = await (await fetch(`/api/v1/${path}`, { method: 'POST', body })).json();
  if (answer.status !== 'success') {
    throw new Error(`${answer.error}: ${parameters.query}`);
  }
  return answer.data.result;
}

function named(legend: string | undefined, labels: Record<string, string>): string {
  return (legend ?? '').replace(/\{\{\s*(\w+)\s*\}\}/g, (_, key) => labels[key] ?? '').trim();
}

/** A series over time, with nothing where there was nothing. */
function line(series: Series, legend: string | undefined, refId: string): DataFrame {
  const known = new Map((series.values ?? [series.value!]).map(([at, value]) => [at, Number(value)]));
  const instant = series.values === undefined;
  const times = instant ? [...known.keys()] : steps();
  const values = times.map((at) => (Number.isFinite(known.get(at)) ? known.get(at)! : null));
  const config = { displayNameFromDS: named(legend, series.metric) };
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: times.map((at) => at * 1000) },
      { name: 'Value', type: FieldType.number, values, labels: series.metric, config },
    ],
  });
}

function steps(): number[] {
  return Array.from({ length: Math.floor((TO - FROM) / STEP) + 1 }, (_, place) => FROM + place * STEP);
}

/** The answer to one of a table's queries, as Grafana names its columns. */
function table(series: Series[], refId: string, one: boolean): DataFrame {
  const labels = [...new Set(series.flatMap((one) => Object.keys(one.metric)))].sort();
  return toDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: series.map((one) => one.value![0] * 1000) },
      ...labels.map((key) => ({ name: key, type: FieldType.string, values: series.map((one) => one.metric[key]) })),
      { name: one ? 'Value' : `Value #${refId}`, type: FieldType.number, values: series.map((one) => Number(one.value![1])) },
    ],
  });
}

/** All frames of a panel. */
export async function frames(panel: any): Promise<DataFrame[]> {
  const found: DataFrame[] = [];
  for (const target of panel.targets ?? []) {
    const query = filled(target.expr);
    const series = target.instant
      ? await ask('query', { query, time: TO })
      : await ask('query_range', { query, start: FROM, end: TO, step: STEP });
    if (target.format !== 'table') {
      found.push(...series.map((one) => line(one, target.legendFormat, target.refId)));
    } else if (series.length > 0) {
      found.push(table(series, target.refId, panel.targets.length === 1));
    }
  }
  const transformations: DataTransformerConfig[] = panel.transformations ?? [];
  return found.length > 0 && transformations.length > 0
    ? lastValueFrom(transformDataFrame(transformations, found))
    : found;
}

export type Mark = { at: number; colour: string; name: string };

/** When something happened, by the board's annotations: where a series begins. */
export async function marks(board: any): Promise<Mark[]> {
  const found: Mark[] = [];
  for (const annotation of board.annotations.list.filter((one: any) => one.expr)) {
    for (const series of await ask('query_range', { query: filled(annotation.expr), start: FROM, end: TO, step: 60 })) {
      const [at] = series.values![0];
      found.push({ at, colour: annotation.iconColor, name: named(annotation.titleFormat, series.metric) });
    }
  }
  return found.filter((mark) => mark.at > FROM);
}
