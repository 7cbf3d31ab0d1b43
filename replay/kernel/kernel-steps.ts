/** The trace as steps of the emulated link: rates, and the loss and delay of handovers. */

import { InputError } from '../../abr/errors.ts';
import { EPOCH_SECONDS, HANDOVER_SECOND } from '../../abr/forecast.ts';
import type { Scenario } from '../scenarios.ts';
import { traceScaleOf } from '../scenarios.ts';
import { linkSteps, meanRateBps, type Trace, traceStartUtcMs, wrapSeconds } from '../trace.ts';

/** The link until `endSeconds` of the session. */
interface KernelStep {
  endSeconds: number;
  bps: number;
  /** Share of packets lost at random. */
  loss: number;
  /** Added to the link's delay in each direction. */
  extraDelaySeconds: number;
}

export interface KernelSteps {
  steps: KernelStep[];
  /** The steps repeat with this period. */
  wrapSeconds: number;
}

/** Loss and delay beyond the trace's rates. */
export interface Impairment {
  /** Share of packets lost at any time, unrelated to congestion. */
  loss: number;
  /** Duration of a handover. */
  handoverSeconds: number;
  /** Added to `loss` and to the round trip during a handover. */
  handoverLoss: number;
  handoverDelaySeconds: number;
}

export const NO_IMPAIRMENT: Impairment = { loss: 0, handoverSeconds: 0, handoverLoss: 0, handoverDelaySeconds: 0 };

/**
 * The middle of measurements on Starlink: loss of 1 to 2 % unrelated to congestion, +30 to 50 ms for 35 to 50 ms at
 * each reconfiguration (Huston, APNIC 2024).
 */
export const STARLINK_IMPAIRMENT: Impairment = {
  loss: 0.01,
  handoverSeconds: 0.045,
  handoverLoss: 0.01,
  handoverDelaySeconds: 0.04,
};

/** The values of `--impairment`. @throws {InputError} of it */
export function impairmentNamed(name: string): Impairment {
  const impairments = new Map([
    ['starlink', STARLINK_IMPAIRMENT],
    ['none', NO_IMPAIRMENT],
  ]);
  const found = impairments.get(name);
  if (found === undefined) throw new InputError('--impairment', `one of ${[...impairments.keys()].join(', ')}`, name);
  return found;
}

/**
 * The session's link from `startSeconds` of the trace, cyclic. Rates are the scaled trace's including headers: the
 * kernel's own headers replace `payloadShare`. `impairment.loss` applies where the trace records no loss. A trace
 * without a clock has no handovers.
 */
export function kernelSteps(
  trace: Trace,
  scenario: Scenario,
  { startSeconds, impairment }: { startSeconds: number; impairment: Impairment },
): KernelSteps {
  const wrap = wrapSeconds(trace);
  const { stepEndsSeconds, ratesBps } = linkSteps(trace, traceScaleOf(scenario, meanRateBps(trace)));
  const offset = startSeconds % wrap;
  const handovers = handoversOf(trace, wrap, impairment);
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
  const steps = pieces
    .map((piece) => {
      const end = piece.endSeconds - offset;
      return { ...piece, endSeconds: end > 0 ? end : end + wrap };
    })
    .sort((a, b) => a.endSeconds - b.endSeconds);
  return { steps, wrapSeconds: wrap };
}

function handoversOf(trace: Trace, wrap: number, { handoverSeconds }: Impairment): { from: number; to: number }[] {
  const { startUtcMs, epochPhaseSeconds } = trace.metadata;
  if (handoverSeconds === 0 || (startUtcMs === undefined && epochPhaseSeconds === undefined)) return [];
  const phase = (traceStartUtcMs(trace.metadata) / 1000) % EPOCH_SECONDS;
  const first = (((HANDOVER_SECOND - phase) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
  const handovers: { from: number; to: number }[] = [];
  for (let from = first; from < wrap; from += EPOCH_SECONDS) {
    handovers.push({ from, to: Math.min(wrap, from + handoverSeconds) });
  }
  return handovers;
}
