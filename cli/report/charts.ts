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

function grid(): Plot.Markish[] {
  const style = { stroke: 'var(--line)', strokeOpacity: 1 };
  return [Plot.gridX(style), Plot.gridY(style)];
}

function dashed({ dash }: SeriesStyle): { strokeDasharray?: string } {
  return dash === undefined ? {} : { strokeDasharray: dash };
}

export interface QoeRow {
  /** Of the line that it is drawn on. */
  label: string;
  algorithm: string;
  value: number;
  /** The interval; both are `value` without one. */
  low: number;
  high: number;
}

/** A line per label with its values and intervals, and a dashed line at the baseline's value, if given. */
export function qoeChart(
  rows: readonly QoeRow[],
  options: { baseline: string | undefined; styles: ReadonlyMap<string, SeriesStyle> },
): string {
  const styleOf = ({ algorithm }: QoeRow) => options.styles.get(algorithm)!;
  const labels = [...new Set(rows.map(({ label }) => label))];
  const baseline = rows.filter(({ algorithm }) => algorithm === options.baseline);
  return svgOf({
    width: 460,
    height: 62 + 26 * labels.length,
    marginLeft: 16 + 6.8 * Math.max(...labels.map((label) => label.length)),
    marginRight: 16,
    marginTop: 8,
    marginBottom: 40,
    style: { fontSize: '12px' },
    x: { label: 'QoE, Mbit/s →', ticks: 5, nice: true, tickFormat: tick, insetLeft: 8, insetRight: 8 },
    y: { label: null, domain: labels, tickSize: 0 },
    marks: [
      Plot.gridX({ stroke: 'var(--line)', strokeOpacity: 1 }),
      Plot.ruleX(baseline, { x: 'value', stroke: SOFT, strokeDasharray: '4 3' }),
      Plot.ruleY(rows, {
        ...{ y: 'label', x1: 'low', x2: 'high', strokeWidth: 3 },
        stroke: (row: QoeRow) => styleOf(row).color,
      }),
      Plot.dot(rows, {
        ...{ y: 'label', x: 'value', r: 5 },
        fill: (row: QoeRow) => styleOf(row).color,
        symbol: (row: QoeRow) => styleOf(row).symbol,
      }),
    ],
    color: { type: 'identity' },
    symbol: { type: 'identity' },
  } as PlotOptions);
}

export interface LineChartOptions {
  width: number;
  height: number;
  x: Axis;
  y: Axis;
}

export interface Axis {
  label: string;
  domain: readonly [number, number];
}

/** Lines on two linear axes, interrupted where y is null. Values beyond the y axis are drawn at its end. */
export function lineChart(
  series: readonly Series<{ x: number; y: number | null }>[],
  { x, y, ...size }: LineChartOptions,
): string {
  return svgOf({
    ...{ ...size, marginLeft: 46, marginBottom: 40, style: { fontSize: '12px' } },
    x: { tickFormat: tick, ...x, label: `${x.label} →` },
    y: { tickFormat: tick, clamp: true, ...y, label: `↑ ${y.label}` },
    marks: [
      ...grid(),
      Plot.ruleY([y.domain[0]], { stroke: SOFT }),
      ...series.map(({ style, points }) =>
        Plot.line(points, { x: 'x', y: 'y', stroke: style.color, strokeWidth: 2, ...dashed(style) }),
      ),
      ...series.map(({ style, points }) =>
        Plot.dot(points, { x: 'x', y: 'y', r: 3, fill: style.color, symbol: style.symbol }),
      ),
    ],
  } as PlotOptions);
}

/** One session: capacity and requested bitrates above, buffer level below; stalls are bands across both. */
export function sessionChart(
  { capacity, requested, buffer, stalls, endSeconds }: SessionSeries,
  options: { topBps: number; bufferCapSeconds: number; color: string },
): string {
  const width = 340;
  const shared = { width, marginLeft: 34, marginRight: 6, style: { fontSize: '10px' } };
  const x = { domain: [0, endSeconds], ticks: 5 };
  const top = (1.3 * options.topBps) / 1e6;
  const bands = (y1: number, y2: number) =>
    Plot.rect(stalls, { x1: 'from', x2: 'to', y1, y2, fill: 'var(--stall)', fillOpacity: 0.35 });
  const rates = svgOf({
    ...shared,
    height: 116,
    marginTop: 16,
    marginBottom: 4,
    x: { ...x, axis: null },
    y: { label: '↑ Mbit/s', domain: [0, top], ticks: 4 },
    marks: [
      ...(capacity === undefined
        ? []
        : [
            Plot.areaY(capacity, {
              x: 'seconds',
              y1: 0,
              y2: ({ mbps }: { mbps: number }) => Math.min(mbps, top),
              curve: 'step-after',
              fill: 'var(--capacity)',
            }),
          ]),
      bands(0, top),
      Plot.line(requested, { x: 'seconds', y: 'mbps', curve: 'step-after', stroke: options.color, strokeWidth: 1.5 }),
      Plot.ruleY([0], { stroke: SOFT }),
    ],
  });
  const bufferLevels = svgOf({
    ...shared,
    height: 72,
    marginTop: 14,
    marginBottom: 20,
    x: { ...x, label: null, tickFormat: (seconds: number) => `${seconds} s` },
    y: { label: '↑ buffer, s', domain: [0, options.bufferCapSeconds], ticks: 2 },
    marks: [
      Plot.areaY(buffer, { x: 'seconds', y1: 0, y2: 'bufferSeconds', fill: options.color, fillOpacity: 0.25 }),
      Plot.line(buffer, { x: 'seconds', y: 'bufferSeconds', stroke: options.color, strokeWidth: 1 }),
      bands(0, options.bufferCapSeconds),
      Plot.ruleY([0], { stroke: SOFT }),
    ],
  });
  return rates + bufferLevels;
}

/** The look of a series in a legend: its line and its mark. */
export function legendSwatch(style: SeriesStyle): string {
  const { color, symbol } = style;
  return svgOf({
    width: 40,
    height: 14,
    margin: 0,
    axis: null,
    x: { domain: [0, 40], range: [0, 40] },
    y: { domain: [0, 14], range: [0, 14] },
    marks: [
      Plot.line([0, 40], { x: (at: number) => at, y: () => 7, stroke: color, strokeWidth: 2, ...dashed(style) }),
      Plot.dot([20], { x: (at: number) => at, y: () => 7, r: 4, fill: color, symbol }),
    ],
  });
}

/** With a typographic minus, as in the tables. */
function tick(value: number): string {
  return String(Math.round(value * 1e6) / 1e6).replace('-', '−');
}
