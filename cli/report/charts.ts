/** Figures by Observable Plot as inline SVG, without script or network; linkedom is Plot's DOM. */

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { SeriesStyle } from './document.ts';

/** This package has no DOM types; `never` fits Plot's parameter. */
const { document } = parseHTML('<!doctype html><html><body></body></html>') as unknown as { document: never };

/** Plot puts its rules into every SVG; the page has them once (`page-style.ts`). */
const OWN_STYLE = /<style>[\s\S]*?<\/style>/;
/** Groups without a role must not have labels; `html.ts` labels the figure as one image. */
const GROUP_LABEL = / aria-(?:label|hidden)="[^"]*"/g;

type PlotOptions = NonNullable<Parameters<typeof Plot.plot>[0]>;

function svgOf(options: PlotOptions): string {
  const plot = Plot.plot({ document, className: 'plot', ...options });
  return (plot as unknown as { outerHTML: string }).outerHTML.replace(OWN_STYLE, '').replaceAll(GROUP_LABEL, '');
}

const SOFT = 'var(--text-soft)';
const FONT = { fontSize: '12px' };
const GRID = { stroke: 'var(--line)', strokeOpacity: 1 };

/** With a typographic minus, as in the tables. */
function tick(value: number): string {
  return String(Math.round(value * 1e6) / 1e6).replace('-', '−');
}

export interface QoeRow {
  algorithm: string;
  value: number;
  /** The interval; both are `value` without one. */
  low: number;
  high: number;
}

/** A line per algorithm with its value and interval, and a dashed line at the baseline's value. */
export function qoeChart(
  rows: readonly QoeRow[],
  { baseline, styles }: { baseline: string; styles: ReadonlyMap<string, SeriesStyle> },
): string {
  const names = rows.map(({ algorithm }) => algorithm);
  const reference = rows.filter(({ algorithm }) => algorithm === baseline);
  const colorOf = ({ algorithm }: QoeRow) => styles.get(algorithm)!.color;
  const symbol = ({ algorithm }: QoeRow) => styles.get(algorithm)!.symbol;
  return svgOf({
    ...{ width: 460, height: 62 + 26 * names.length, style: FONT },
    marginLeft: 16 + 6.8 * Math.max(...names.map((name) => name.length)),
    ...{ marginRight: 16, marginTop: 8, marginBottom: 40 },
    x: { label: 'QoE, Mbit/s →', ticks: 5, nice: true, tickFormat: tick, insetLeft: 8, insetRight: 8 },
    y: { label: null, domain: names, tickSize: 0 },
    marks: [
      Plot.gridX(GRID),
      Plot.ruleX(reference, { x: 'value', stroke: SOFT, strokeDasharray: '4 3' }),
      Plot.ruleY(rows, { y: 'algorithm', x1: 'low', x2: 'high', strokeWidth: 3, stroke: colorOf }),
      Plot.dot(rows, { y: 'algorithm', x: 'value', r: 5, fill: colorOf, symbol }),
    ],
    color: { type: 'identity' },
    symbol: { type: 'identity' },
  } as PlotOptions);
}
