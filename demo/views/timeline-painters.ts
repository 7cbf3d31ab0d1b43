/** Paints the marks on a lane of the timeline: handovers, stalls, forecasts, the future. */

import uPlot from 'uplot';
import type { FanStep } from '../run/timeline-model.ts';

/** Converts a time range to x positions on the canvas, clipped to the plot; undefined if it is out of view. */
function across(u: uPlot, fromSeconds: number, toSeconds: number): { x: number; width: number } | undefined {
  const { left, width } = u.bbox;
  const from = Math.max(left, u.valToPos(fromSeconds, 'x', true));
  const to = Math.min(left + width, u.valToPos(toSeconds, 'x', true));
  return to > from ? { x: from, width: to - from } : undefined;
}

function clipped(u: uPlot, paint: (context: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint(ctx);
  ctx.restore();
}

/** Paints dashed lines across the plot, at seconds (`x`) or values (`y`). */
export function paintDashes(
  u: uPlot,
  scale: 'x' | 'y',
  values: readonly number[],
  { colour, dash }: { colour: string; dash: readonly number[] },
): void {
  clipped(u, (ctx) => {
    const { left, top, width, height } = u.bbox;
    ctx.strokeStyle = colour;
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash(dash.map((length) => length * uPlot.pxRatio));
    ctx.beginPath();
    for (const value of values) {
      const at = Math.round(u.valToPos(value, scale, true)) + 0.5;
      ctx.moveTo(...(scale === 'x' ? ([at, top] as const) : ([left, at] as const)));
      ctx.lineTo(...(scale === 'x' ? ([at, top + height] as const) : ([left + width, at] as const)));
    }
    ctx.stroke();
  });
}

export interface Band {
  startSeconds: number;
  endSeconds: number;
}

/** Paints bands of the plot's full height or, with `of`, of a row, counted from the top. */
export function paintBands(u: uPlot, bands: readonly Band[], colour: string, of?: { row: number; rows: number }): void {
  const height = u.bbox.height / (of?.rows ?? 1);
  const inset = of ? 2 * uPlot.pxRatio : 0;
  const least = (of ? 2 : 1) * uPlot.pxRatio;
  clipped(u, (ctx) => {
    ctx.fillStyle = colour;
    for (const { startSeconds, endSeconds } of bands) {
      const band = across(u, startSeconds, endSeconds);
      if (band === undefined) continue;
      const top = u.bbox.top + (of?.row ?? 0) * height;
      ctx.fillRect(band.x, top + inset, Math.max(band.width, least), height - 2 * inset);
    }
  });
}

/** Paints a line across the plot. Its label, if `text` is not empty, is at the top, on the side that has room. */
export function paintRule(
  u: uPlot,
  seconds: number,
  { text, colour, background }: { text: string; colour: string; background: string },
): void {
  clipped(u, (ctx) => {
    const { left, top, width, height } = u.bbox;
    const ratio = uPlot.pxRatio;
    const x = Math.round(u.valToPos(seconds, 'x', true));
    if (x < left || x > left + width) return;
    ctx.fillStyle = colour;
    ctx.fillRect(x - ratio, top, 2 * ratio, height);
    if (text === '') return;
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    const labelWidth = ctx.measureText(text).width + 8 * ratio;
    const from = x + labelWidth > left + width ? x - labelWidth - 3 * ratio : x + 3 * ratio;
    ctx.fillStyle = background;
    ctx.fillRect(from, top, labelWidth, 18 * ratio);
    ctx.fillStyle = colour;
    ctx.textBaseline = 'middle';
    ctx.textAlign = 'left';
    ctx.fillText(text, from + 4 * ratio, top + 9 * ratio);
  });
}

export function paintFuture(u: uPlot, nowSeconds: number, { veil, line }: { veil: string; line: string }): void {
  const { ctx, bbox } = u;
  const future = across(u, nowSeconds, Number.MAX_SAFE_INTEGER);
  if (future === undefined) return;
  ctx.save();
  ctx.fillStyle = veil;
  // Half of a line at the plot's edge is outside the plot.
  ctx.fillRect(future.x, bbox.top, future.width + uPlot.pxRatio, bbox.height + uPlot.pxRatio);
  ctx.fillStyle = line;
  ctx.fillRect(future.x, bbox.top, uPlot.pxRatio, bbox.height);
  ctx.restore();
}

/** Paints the 10 to 90 % range of a forecast as an area, and its median as a line. The y scale is in Mbit/s. */
export function paintFan(u: uPlot, steps: readonly FanStep[], { area, line }: { area: string; line: string }): void {
  clipped(u, (ctx) => {
    const y = (bps: number) => u.valToPos(bps / 1e6, 'y', true);
    for (const { fromSeconds, toSeconds, lowBps, middleBps, highBps } of steps) {
      const band = across(u, fromSeconds, toSeconds);
      if (band === undefined) continue;
      ctx.fillStyle = area;
      ctx.fillRect(band.x, y(highBps), band.width, y(lowBps) - y(highBps));
      ctx.fillStyle = line;
      ctx.fillRect(band.x, y(middleBps), band.width, 2 * uPlot.pxRatio);
    }
  });
}
