/** A trace as the emulated link plays it: rates, and what a handover does to packets. */

import { EPOCH_SECONDS, HANDOVER_SECOND } from '../../abr/forecast.ts';
import type { Scenario } from '../scenarios.ts';
import { traceScaleOf } from '../scenarios.ts';
import { linkSteps, meanRateBps, type Trace, traceStartUtcMs, wrapSeconds } from '../trace.ts';

/** What holds until `endSeconds` of the session. */
export interface KernelStep {
  endSeconds: number;
  bps: number;
  /** Share of packets lost at random. */
  loss: number;
  /** On top of the link's own delay, each way. */
  extraDelaySeconds: number;
}

export interface KernelSteps {
  steps: KernelStep[];
  /** The steps begin again after this. */
  wrapSeconds: number;
}

/** Loss and delay that the rates do not have: none, or Starlink's. */
export interface Impairment {
  /** Share of packets lost at any time, unrelated to congestion. */
  loss: number;
  /** For so long from each handover on, in seconds. */
  handoverSeconds: number;
  /** Then: on top of `loss`, and of the delay (round trip). */
  handoverLoss: number;
  handoverDelaySeconds: number;
}

export const NO_IMPAIRMENT: Impairment = { loss: 0, handoverSeconds: 0, handoverLoss: 0, handoverDelaySeconds: 0 };

/**
 * 1 % at any time, and at each reconfiguration another 1 % with 40 ms more for 45 ms: the middle of what was measured on
 * Starlink (loss of 1 to 2 % unrelated to congestion, +30 to 50 ms for 35 to 50 ms: Huston, APNIC 2024).
 */
export const STARLINK_IMPAIRMENT: Impairment = {
  loss: 0.01,
  handoverSeconds: 0.045,
  handoverLoss: 0.01,
  handoverDelaySeconds: 0.04,
};

/**
 * The session's link from `startSeconds` of the trace on, around its wrap. Rates are those of the trace in the scenario,
 * with headers: the kernel's own take what `payloadShare` leaves out elsewhere. Where the trace knows no loss of its own,
 * `impairment.loss` holds. A trace without a clock has no handovers.
 */
export function kernelSteps(
  trace: Trace,
  scenario: Scenario,
  { startSeconds, impairment }: { startSeconds: number; impairment: Impairment },
): KernelSteps {
  const wrap = wrapSeconds(trace);
  const { stepEndsSeconds, ratesBps } = linkSteps(trace, traceScaleOf(scenario, meanRateBps(trace)));
  const offset = startSeconds % wrap;
  const handovers = handoverSeconds(trace, wrap, impairment);
  const edges = new Set(stepEndsSeconds.map((end) => Math.min(end, wrap)));
  edges.add(wrap);
  for (const { from, to } of handovers) for (const at of [from, to]) if (at > 0 && at < wrap) edges.add(at);
  if (offset > 0) edges.add(offset);
  const pieces: KernelStep[] = [];
  let begin = 0;
  let step = 0;
  for (const end of [...edges].sort((a, b) => a - b)) {
    const middle = (begin + end) / 2;
    while (step < stepEndsSeconds.length - 1 && stepEndsSeconds[step]! <= middle) step++;
    const isHandover = handovers.some(({ from, to }) => middle >= from && middle < to);
    const own = trace.loss?.[step];
    const loss = own === undefined || Number.isNaN(own) ? impairment.loss : own;
    pieces.push({
      endSeconds: end,
      bps: ratesBps[step]!,
      loss: Math.min(1, loss + (isHandover ? impairment.handoverLoss : 0)),
      extraDelaySeconds: isHandover ? impairment.handoverDelaySeconds / 2 : 0,
    });
    begin = end;
  }
  const turned = [
    ...pieces
      .filter(({ endSeconds }) => endSeconds > offset)
      .map((piece) => ({ ...piece, endSeconds: piece.endSeconds - offset })),
    ...pieces
      .filter(({ endSeconds }) => endSeconds <= offset)
      .map((piece) => ({ ...piece, endSeconds: piece.endSeconds + wrap - offset })),
  ];
  return { steps: turned, wrapSeconds: wrap };
}

function handoverSeconds(
  trace: Trace,
  wrap: number,
  { handoverSeconds: lasts }: Impairment,
): { from: number; to: number }[] {
  const { startUtcMs, epochPhaseSeconds } = trace.metadata;
  if (lasts === 0 || (startUtcMs === undefined && epochPhaseSeconds === undefined)) return [];
  const phase = (traceStartUtcMs(trace.metadata) / 1000) % EPOCH_SECONDS;
  const first = (((HANDOVER_SECOND - phase) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
  const handovers: { from: number; to: number }[] = [];
  for (let from = first; from < wrap; from += EPOCH_SECONDS) handovers.push({ from, to: Math.min(wrap, from + lasts) });
  return handovers;
}
