// The boards as TypeScript that has to satisfy Grafana's own types: a word that is spelt wrong, or an option that a panel
// does not have, is an error of the compiler.
//
//   node check.mjs FILE.json… > boards.check.ts
import { readFileSync } from 'node:fs';

const PANELS = {
  timeseries: ['timeseries', 'TimeSeriesPanelCfg', true],
  stat: ['stat', 'StatPanelCfg', false],
  table: ['table', 'TablePanelCfg', true],
  text: ['text', 'TextPanelCfg', false],
  heatmap: ['heatmap', 'HeatmapPanelCfg', false],
  'state-timeline': ['statetimeline', 'StateTimelinePanelCfg', true],
};

const lines = ["import type { Dashboard, FieldConfig, Panel } from '@grafana/schema';"];
for (const [folder, file] of Object.values(PANELS)) {
  lines.push(`import type * as ${folder} from '@grafana/schema/dist/esm/raw/composable/${folder}/panelcfg/x/${file}_types.gen';`);
}
// Enums are written as their words in JSON, and what has a default may be left out.
lines.push(`
type Written<T> = T extends string ? \`\${T}\`
  : T extends number ? (number extends T ? T : \`\${T}\` extends \`\${infer N extends number}\` ? N : T)
  : T extends boolean | null | undefined ? T
  : T extends Array<infer U> ? Array<Written<U>>
  : T extends object ? { [K in keyof T]?: Written<T[K]> } : T;
type Fields<C> = { defaults?: Written<Omit<FieldConfig, 'custom'>> & { custom?: Written<C> }; overrides?: unknown[] };`);
let number = 0;
for (const file of process.argv.slice(2)) {
  const { panels, ...board } = JSON.parse(readFileSync(file, 'utf8'));
  // What a data source alone understands of an annotation is not in the types.
  board.annotations.list = board.annotations.list.map(({ expr, step, titleFormat, textFormat, useValueForTime, ...rest }) => rest);
  lines.push(`// ${file}`);
  lines.push(`export const board${number} = ${JSON.stringify(board)} satisfies Written<Omit<Dashboard, 'panels'>>;`);
  for (const { targets: _, ...panel } of panels) {
    number += 1;
    if (panel.type === 'row') continue;
    const known = PANELS[panel.type];
    if (!known) throw new Error(`${file}: a panel of the type ${panel.type}`);
    const [of, , hasFields] = known;
    const fields = hasFields ? `Fields<${of}.FieldConfig>` : 'Fields<Record<string, unknown>>';
    lines.push(`export const panel${number} = ${JSON.stringify(panel)} satisfies`);
    lines.push(`  Written<Omit<Panel, 'options' | 'fieldConfig'>> & { options?: Written<${of}.Options>; fieldConfig?: ${fields} };`);
  }
  number += 1;
}
console.log(lines.join('\n'));
