// What Grafana's component library has no component for: states over time, and a histogram over time.
import React from 'react';
import { DataFrame, FieldType, getDisplayProcessor, getFieldDisplayName } from '@grafana/data';
import { FROM, TO } from './data';
import { theme } from './fields';

const AXIS = 22;
const hour = (at: number) => new Date(at * 1000).toISOString().slice(11, 16);

function Hours({ left, width, top }: { left: number; width: number; top: number }) {
  const at = Array.from({ length: 7 }, (_, place) => FROM + ((TO - FROM) * place) / 6);
  return (
    <>
      {at.map((time) => (
        <text key={time} x={left + ((time - FROM) / (TO - FROM)) * width} y={top + 15} fill="#9fa0a8" fontSize={12} textAnchor="middle">
          {hour(time)}
        </text>
      ))}
    </>
  );
}

const values = (frame: DataFrame) => frame.fields.find((field) => field.type === FieldType.number)!;

/** A band for each series, in the colour of its state. */
export function States({ frames, width, height }: { frames: DataFrame[]; width: number; height: number }) {
  const left = 150;
  const across = width - left - 10;
  const row = Math.min(60, (height - AXIS - 8) / frames.length);
  return (
    <svg width={width} height={height}>
      {frames.map((frame, place) => {
        const field = values(frame);
        const display = getDisplayProcessor({ field, theme });
        const times: number[] = frame.fields[0].values;
        const runs: Array<{ from: number; to: number; value: unknown }> = [];
        times.forEach((time, at) => {
          const value = field.values[at];
          const last = runs.at(-1);
          if (last && last.value === value) {
            last.to = times[at + 1] ?? time;
          } else {
            runs.push({ from: time, to: times[at + 1] ?? time, value });
          }
        });
        const x = (time: number) => left + ((time / 1000 - FROM) / (TO - FROM)) * across;
        const top = place * row + 4;
        return (
          <g key={place}>
            <text x={left - 10} y={top + row / 2} fill="#ccccdc" fontSize={13} textAnchor="end" dominantBaseline="middle">
              {getFieldDisplayName(field, frame, frames)}
            </text>
            {runs.filter((run) => run.value != null).map((run, at) => {
              const shown = display(run.value);
              const wide = x(run.to) - x(run.from);
              return (
                <g key={at}>
                  <rect x={x(run.from)} y={top} width={Math.max(1, wide)} height={row - 8} fill={theme.visualization.getColorByName(shown.color ?? 'gray')} opacity={0.85} />
                  {wide > 70 && (
                    <text x={x(run.from) + 6} y={top + (row - 8) / 2} fill="#111217" fontSize={12} dominantBaseline="middle">{shown.text}</text>
                  )}
                </g>
              );
            })}
          </g>
        );
      })}
      <Hours left={left} width={across} top={frames.length * row} />
    </svg>
  );
}

/** How many values fell into each bucket, by the depth of a colour. */
export function Heatmap({ frames, width, height }: { frames: DataFrame[]; width: number; height: number }) {
  const bound = (frame: DataFrame) => Number(values(frame).labels?.le?.replace('+Inf', 'Infinity'));
  const rising = [...frames].sort((a, b) => bound(a) - bound(b));
  const left = 60;
  const across = width - left - 10;
  const row = (height - AXIS - 6) / rising.length;
  const inBucket = rising.map((frame, place) =>
    values(frame).values.map((value: number | null, at: number) =>
      Math.max(0, (value ?? 0) - (place === 0 ? 0 : (values(rising[place - 1]).values[at] ?? 0)))
    )
  );
  const most = Math.max(1e-9, ...inBucket.flat());
  const column = across / rising[0].fields[0].values.length;
  return (
    <svg width={width} height={height}>
      {rising.map((frame, place) => {
        const top = height - AXIS - (place + 1) * row;
        const label = bound(frame) === Infinity ? 'more' : `${bound(frame)} s`;
        return (
          <g key={place}>
            <text x={left - 8} y={top + row / 2} fill="#9fa0a8" fontSize={12} textAnchor="end" dominantBaseline="middle">{label}</text>
            {inBucket[place].map((count: number, at: number) =>
              count > 0 ? (
                <rect key={at} x={left + at * column} y={top + 1} width={column + 0.3} height={row - 2} fill="#ff9830" opacity={0.12 + 0.88 * Math.sqrt(count / most)} />
              ) : null
            )}
          </g>
        );
      })}
      <Hours left={left} width={across} top={height - AXIS} />
    </svg>
  );
}
