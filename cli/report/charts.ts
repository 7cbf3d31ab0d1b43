/**
 * The report's figures, drawn by Observable Plot as inline SVG when the report is written: the page needs no script and
 * no network, and can be printed. Plot needs a DOM; linkedom provides one without a browser.
 */

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { SeriesStyle } from './document.ts';
import type { SessionSeries } from './session-series.ts';

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

export interface Series<Point> {
  style: SeriesStyle;
  points: readonly Point[];
}

const SOFT = 'var(--text-soft)';
const FONT = { fontSize: '12px' };
const GRID = { stroke: 'var(--line)', strokeOpacity: 1 };
function dashed({ dash }: SeriesStyle): { strokeDasharray?: string } {
  return dash === undefined ? {} : { strokeDasharray: dash };
}

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

export interface Axis {
  label: string;
  domain: readonly [number, number];
}

/** Lines on two linear axes, interrupted where y is null. Values beyond the y axis are drawn at its end. */
export function lineChart(
  series: readonly Series<{ x: number; y: number | null }>[],
  { x, y, ...size }: { width: number; height: number; x: Axis; y: Axis },
): string {
  return svgOf({
    ...{ ...size, marginLeft: 46, marginBottom: 40, style: FONT },
    x: { tickFormat: tick, ...x, label: `${x.label} →` },
    y: { tickFormat: tick, clamp: true, ...y, label: `↑ ${y.label}` },
    marks: [
      ...[Plot.gridX(GRID), Plot.gridY(GRID), Plot.ruleY([y.domain[0]], { stroke: SOFT })],
      ...series.flatMap(({ style, points }) => [
        Plot.line(points, { x: 'x', y: 'y', stroke: style.color, strokeWidth: 2, ...dashed(style) }),
        Plot.dot(points, { x: 'x', y: 'y', r: 3, fill: style.color, symbol: style.symbol }),
      ]),
    ],
  } as PlotOptions);
}

/** One session: capacity and requested bitrates above, buffer level below; stalls are bands across both. */
export function sessionChart(
  { capacity = [], requested, buffer, stalls, endSeconds }: SessionSeries,
  { topBps, bufferCapSeconds, color }: { topBps: number; bufferCapSeconds: number; color: string },
): string {
  const shared = { width: 340, marginLeft: 34, marginRight: 6, style: { fontSize: '10px' } };
  const x = { domain: [0, endSeconds], ticks: 5 };
  const top = (1.3 * topBps) / 1e6;
  const band = (y2: number) => [
    Plot.rect(stalls, { x1: 'from', x2: 'to', y1: 0, y2, fill: 'var(--stall)', fillOpacity: 0.35 }),
    Plot.ruleY([0], { stroke: SOFT }),
  ];
  const capped = capacity.map(({ seconds, mbps }) => ({ seconds, mbps: Math.min(mbps, top) }));
  const rates = svgOf({
    ...{ ...shared, height: 116, marginTop: 16, marginBottom: 4 },
    x: { ...x, axis: null },
    y: { label: '↑ Mbit/s', domain: [0, top], ticks: 4 },
    marks: [
      Plot.areaY(capped, { x: 'seconds', y1: 0, y2: 'mbps', curve: 'step-after', fill: 'var(--capacity)' }),
      ...band(top),
      Plot.line(requested, { x: 'seconds', y: 'mbps', curve: 'step-after', stroke: color, strokeWidth: 1.5 }),
    ],
  });
  const bufferLevels = svgOf({
    ...{ ...shared, height: 72, marginTop: 14, marginBottom: 20 },
    x: { ...x, label: null, tickFormat: (seconds: number) => `${seconds} s` },
    y: { label: '↑ buffer, s', domain: [0, bufferCapSeconds], ticks: 2 },
    marks: [
      Plot.areaY(buffer, { x: 'seconds', y1: 0, y2: 'bufferSeconds', fill: color, fillOpacity: 0.25 }),
      Plot.line(buffer, { x: 'seconds', y: 'bufferSeconds', stroke: color, strokeWidth: 1 }),
      ...band(bufferCapSeconds),
    ],
  });
  return rates + bufferLevels;
}

/** The look of a series in a legend: its line and its mark. */
export function legendSwatch(style: SeriesStyle): string {
  const { color, symbol } = style;
  return svgOf({
    ...{ width: 40, height: 14, margin: 0, axis: null },
    x: { domain: [0, 40], range: [0, 40] },
    y: { domain: [0, 14], range: [0, 14] },
    marks: [
      Plot.line([0, 40], { x: (at: number) => at, y: () => 7, stroke: color, strokeWidth: 2, ...dashed(style) }),
      Plot.dot([20], { x: (at: number) => at, y: () => 7, r: 4, fill: color, symbol }),
    ],
  });
}
