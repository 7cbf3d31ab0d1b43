/** Line charts as SVG text, enough for a page of calibration plots: two linear axes, lines with points, a band. */

export interface Line {
  label: string;
  /** CSS class, which has the colour. */
  className: string;
  /** Null y: a gap. */
  points: readonly (readonly [x: number, y: number | null])[];
}

export interface Chart {
  title: string;
  xLabel: string;
  yLabel: string;
  xDomain: readonly [number, number];
  yDomain: readonly [number, number];
  xTicks: readonly number[];
  yTicks: readonly number[];
  /** Of y: shaded, what is aimed at. */
  band?: readonly [number, number];
  /** Draws y = x. */
  diagonal?: boolean;
  lines: readonly Line[];
}

const WIDTH = 320;
const HEIGHT = 240;
const MARGIN = { top: 28, right: 10, bottom: 36, left: 46 };

export function chartSvg(chart: Chart): string {
  const { title, xLabel, yLabel, xDomain, yDomain, xTicks, yTicks, band, diagonal, lines } = chart;
  const right = WIDTH - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = scale(xDomain, MARGIN.left, right);
  const y = scale(yDomain, bottom, MARGIN.top);
  const inside = (value: number) => Math.min(yDomain[1], Math.max(yDomain[0], value));
  const parts = [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    `<text class="title" x="${MARGIN.left}" y="16">${escaped(title)}</text>`,
  ];
  if (band) {
    const [low, high] = [y(inside(band[0])), y(inside(band[1]))];
    parts.push(
      `<rect class="band" x="${MARGIN.left}" y="${high}" width="${right - MARGIN.left}" height="${tidy(low - high)}"/>`,
    );
  }
  for (const tick of xTicks) {
    parts.push(
      `<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${MARGIN.top}" y2="${bottom}"/>`,
      `<text class="tick" x="${x(tick)}" y="${bottom + 13}" text-anchor="middle">${tick}</text>`,
    );
  }
  for (const tick of yTicks) {
    parts.push(
      `<line class="grid" x1="${MARGIN.left}" x2="${right}" y1="${y(tick)}" y2="${y(tick)}"/>`,
      `<text class="tick" x="${MARGIN.left - 5}" y="${tidy(y(tick) + 3.5)}" text-anchor="end">${tick}</text>`,
    );
  }
  parts.push(
    `<text class="axis" x="${(MARGIN.left + right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${escaped(xLabel)}</text>`,
    `<text class="axis" transform="translate(12 ${(MARGIN.top + bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>`,
  );
  if (diagonal === true) {
    const low = Math.max(xDomain[0], yDomain[0]);
    const high = Math.min(xDomain[1], yDomain[1]);
    parts.push(`<line class="diagonal" x1="${x(low)}" y1="${y(low)}" x2="${x(high)}" y2="${y(high)}"/>`);
  }
  for (const { label, className, points } of lines) {
    parts.push(`<g class="${className}"><title>${escaped(label)}</title>`);
    for (const run of runsOf(points)) {
      parts.push(`<polyline points="${run.map(([px, py]) => `${x(px)},${y(inside(py))}`).join(' ')}"/>`);
      for (const [px, py] of run) parts.push(`<circle cx="${x(px)}" cy="${y(inside(py))}" r="2"/>`);
    }
    parts.push('</g>');
  }
  parts.push('</svg>');
  return parts.join('');
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Stretches of points that have a value. */
function runsOf(points: Line['points']): [number, number][][] {
  const runs: [number, number][][] = [[]];
  for (const [x, y] of points) {
    if (y === null) runs.push([]);
    else runs[runs.length - 1]!.push([x, y]);
  }
  return runs.filter((run) => run.length > 0);
}

function scale([low, high]: readonly [number, number], from: number, to: number): (value: number) => number {
  return (value) => tidy(from + ((to - from) * (value - low)) / (high - low));
}

function tidy(value: number): number {
  return Math.round(value * 10) / 10;
}
