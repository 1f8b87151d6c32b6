// One panel, drawn by Grafana's components where it has one.
import React, { useEffect, useState } from 'react';
import { DataFrame, dateTime, getFieldDisplayValues, renderTextPanelMarkdown } from '@grafana/data';
import { BigValue, BigValueColorMode, BigValueGraphMode, BigValueJustifyMode, BigValueTextMode, PanelChrome, Table, TimeSeries } from '@grafana/ui';
import { frames as asked, FROM, Mark, TO } from './data';
import { Heatmap, States } from './drawn';
import { configured, theme } from './fields';

export const WIDTH = 1400;
const COLUMN = WIDTH / 24;
const ROW = 38;

export function place(panel: any): React.CSSProperties {
  const { x, y, w, h } = panel.gridPos;
  return { position: 'absolute', left: x * COLUMN + 4, top: y * ROW + 4, width: w * COLUMN - 8, height: h * ROW - 8 };
}

const timeRange = () => {
  const [from, to] = [dateTime(FROM * 1000), dateTime(TO * 1000)];
  return { from, to, raw: { from, to } };
};

type Drawn = { panel: any; frames: DataFrame[]; width: number; height: number; marks: Mark[] };

function Lines({ panel, frames, width, height, marks }: Drawn) {
  const draw = (plot: any) => {
    const context: CanvasRenderingContext2D = plot.ctx;
    context.save();
    for (const mark of marks) {
      const x = plot.valToPos(mark.at * 1000, 'x', true);
      context.strokeStyle = theme.visualization.getColorByName(mark.colour);
      context.setLineDash([4, 4]);
      context.beginPath();
      context.moveTo(x, plot.bbox.top);
      context.lineTo(x, plot.bbox.top + plot.bbox.height);
      context.stroke();
    }
    context.restore();
  };
  return (
    <TimeSeries width={width} height={height} frames={frames} timeRange={timeRange()} timeZone="utc" legend={panel.options.legend} options={{}}>
      {(builder: any) => {
        builder.addHook('draw', draw);
        return null;
      }}
    </TimeSeries>
  );
}

function Stat({ panel, frames, width, height }: Drawn) {
  const values = getFieldDisplayValues({
    data: frames,
    fieldConfig: panel.fieldConfig,
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: (value: string) => value,
    theme,
    timeZone: 'utc',
  });
  return (
    <div style={{ display: 'flex', gap: 4 }}>
      {values.map((value, at) => (
        <BigValue
          key={at}
          width={(width - 4 * (values.length - 1)) / values.length}
          height={height}
          value={panel.options.textMode === 'value_and_name' ? { ...value.display, title: value.display.title } : { ...value.display, title: undefined }}
          theme={theme}
          colorMode={panel.options.colorMode as BigValueColorMode}
          graphMode={BigValueGraphMode.None}
          textMode={panel.options.textMode === 'value_and_name' ? BigValueTextMode.ValueAndName : BigValueTextMode.Value}
          justifyMode={BigValueJustifyMode.Center}
        />
      ))}
    </div>
  );
}

function Content(drawn: Drawn) {
  const { panel, frames, width, height } = drawn;
  if (panel.type === 'text') {
    const html = { __html: renderTextPanelMarkdown(panel.options.content) };
    return <div className="markdown-html" style={{ fontSize: 12.5, lineHeight: 1.35 }} dangerouslySetInnerHTML={html} />;
  }
  const isEmpty = frames.every((frame) => frame.length === 0);
  if (isEmpty) {
    const why: React.CSSProperties = { display: 'flex', height, alignItems: 'center', justifyContent: 'center', textAlign: 'center' };
    return <div style={{ ...why, color: '#9fa0a8', padding: '0 16px' }}>{panel.fieldConfig.defaults.noValue}</div>;
  }
  switch (panel.type) {
    case 'timeseries':
      return <Lines {...drawn} />;
    case 'stat':
      return <Stat {...drawn} />;
    case 'table':
      return <Table data={frames[0]} width={width} height={height} initialSortBy={panel.options.sortBy} cellHeight={'sm' as never} timeRange={timeRange()} />;
    case 'state-timeline':
      return <States frames={frames} width={width} height={height} />;
    case 'heatmap':
      return <Heatmap frames={frames} width={width} height={height} />;
    default:
      throw new Error(`no way to draw a ${panel.type}`);
  }
}

export function Panel({ panel, marks }: { panel: any; marks: Mark[] }) {
  const [frames, set] = useState<DataFrame[] | null>(null);
  const [error, fail] = useState('');
  useEffect(() => {
    asked(panel).then((found) => set(configured(panel, found))).catch((error) => fail(String(error)));
  }, [panel]);
  const style = place(panel);
  return (
    <div style={style} data-panel={panel.id} data-error={error} data-ready={frames || error ? 1 : 0}>
      <PanelChrome width={style.width as number} height={style.height as number} title={panel.title} description={panel.description} padding="sm" statusMessage={error || undefined}>
        {(width, height) => (frames ? <Content panel={panel} frames={frames} width={width} height={height} marks={marks} /> : <span />)}
      </PanelChrome>
    </div>
  );
}

export const height = (panels: any[]) => Math.max(...panels.map((panel) => panel.gridPos.y + panel.gridPos.h)) * ROW + 8;
