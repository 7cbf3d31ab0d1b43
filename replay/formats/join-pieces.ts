/** Joins the pieces of a recording and bridges the pauses of a player with a full buffer. */

import type { Trace } from '../trace.ts';

export interface JoinedRun {
  trace: Trace;
  bridgedSeconds: number;
}

/** Approximate length of the steps in a bridged pause. */
const STEP_SECONDS = 1;

/** In a pause the rate changes linearly between its neighbours. Pieces without `start_utc` stay apart. */
export function runsOf(pieces: readonly Trace[], longestPauseSeconds: number): JoinedRun[] {
  const groups: Trace[][] = [];
  for (const piece of pieces) {
    const group = groups.at(-1);
    const pause = group && pauseSeconds(group.at(-1)!, piece);
    if (pause !== undefined && pause >= 0 && pause <= longestPauseSeconds) group!.push(piece);
    else groups.push([piece]);
  }
  return groups.map(joined);
}

function pauseSeconds(before: Trace, after: Trace): number | undefined {
  const from = before.metadata.startUtcMs;
  const to = after.metadata.startUtcMs;
  if (before.file !== after.file || from === undefined || to === undefined) return undefined;
  return Math.round(to - from - before.durationSeconds * 1000) / 1000;
}

function joined(pieces: readonly Trace[]): JoinedRun {
  const [first] = pieces as [Trace];
  if (pieces.length === 1) return { trace: first, bridgedSeconds: 0 };
  const steps: { end: number; bps: number; rtt: number; loss: number }[] = [];
  let endSeconds = 0;
  let bridgedSeconds = 0;
  pieces.forEach((piece, i) => {
    const pause = i === 0 ? 0 : pauseSeconds(pieces[i - 1]!, piece)!;
    const lastBps = steps.at(-1)?.bps ?? 0;
    const count = pause > 0 ? Math.max(1, Math.round(pause / STEP_SECONDS)) : 0;
    for (let step = 1; step <= count; step++) {
      const bps = lastBps + ((piece.ratesBps[0]! - lastBps) * step) / (count + 1);
      steps.push({ end: endSeconds + (pause * step) / count, bps, rtt: Number.NaN, loss: Number.NaN });
    }
    endSeconds += pause;
    bridgedSeconds += pause;
    for (let step = 0; step < piece.ratesBps.length; step++) {
      const rtt = piece.rttSeconds?.[step] ?? Number.NaN;
      const loss = piece.loss?.[step] ?? Number.NaN;
      steps.push({ end: endSeconds + piece.stepEndsSeconds[step]!, bps: piece.ratesBps[step]!, rtt, loss });
    }
    endSeconds += piece.durationSeconds;
  });
  const trace: Trace = {
    ...first,
    stepEndsSeconds: Float64Array.from(steps, ({ end }) => end),
    ratesBps: Float64Array.from(steps, ({ bps }) => bps),
    durationSeconds: endSeconds,
    rttSeconds: Float64Array.from(steps, ({ rtt }) => rtt),
    loss: Float64Array.from(steps, ({ loss }) => loss),
  };
  return { trace, bridgedSeconds };
}
