/** The trace as steps of the emulated link: rates, and the loss and delay of handovers. */

import { InputError } from '../abr/errors.ts';
import { EPOCH_SECONDS, HANDOVER_SECOND } from '../abr/forecast.ts';
import { type Random, seededRandom } from '../abr/random.ts';
import type { Scenario } from '../replay/scenarios.ts';
import { traceScaleOf } from '../replay/scenarios.ts';
import { linkSteps, meanRateBps, type Trace, traceStartUtcMs, wrapSeconds } from '../replay/trace.ts';

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
  /** What the queue in front of the link holds. Default: `QUEUE_BYTES`. */
  queueBytes?: number;
}

/** 100 ms of a Starlink downlink of 120 Mbit/s. */
export const QUEUE_BYTES = (0.1 * 120e6) / 8;

/** Loss and delay beyond the trace's rates, and the queue. */
export interface Impairment {
  /** Share of packets lost at any time, unrelated to congestion. */
  loss: number;
  /** Whether the trace's own losses count where it has any. */
  keepsRecordedLoss: boolean;
  /** These losses come in bursts of this mean duration, in which all packets are lost. 0: each by itself. */
  burstSeconds: number;
  /** Each 20 ms the round trip is longer by another time, uniform up to this. Packets stay in order. */
  jitterSeconds: number;
  /** Duration of a handover. */
  handoverSeconds: number;
  /** Added to `loss` and to the round trip during a handover. */
  handoverLoss: number;
  handoverDelaySeconds: number;
  queueBytes: number;
}

export const NO_IMPAIRMENT: Impairment = {
  ...{ loss: 0, keepsRecordedLoss: true, burstSeconds: 0, jitterSeconds: 0 },
  ...{ handoverSeconds: 0, handoverLoss: 0, handoverDelaySeconds: 0 },
  queueBytes: QUEUE_BYTES,
};

/**
 * The middle of measurements on Starlink: loss of 1 to 2 % unrelated to congestion, +30 to 50 ms for 35 to 50 ms at
 * each reconfiguration (Huston, APNIC 2024).
 */
export const STARLINK_IMPAIRMENT: Impairment = {
  ...NO_IMPAIRMENT,
  ...{ loss: 0.01, handoverSeconds: 0.045, handoverLoss: 0.01, handoverDelaySeconds: 0.04 },
};

const JITTER_STEP_SECONDS = 0.02;
const NAMED = { starlink: STARLINK_IMPAIRMENT, none: NO_IMPAIRMENT };
/** Parts of `--impairment`: the field, and its units in one of the part's. */
const PARTS: Record<string, [Exclude<keyof Impairment, 'keepsRecordedLoss'>, number]> = {
  loss: ['loss', 1],
  'burst-ms': ['burstSeconds', 1e-3],
  'jitter-ms': ['jitterSeconds', 1e-3],
  'handover-ms': ['handoverSeconds', 1e-3],
  'handover-loss': ['handoverLoss', 1],
  'handover-delay-ms': ['handoverDelaySeconds', 1e-3],
  'queue-kb': ['queueBytes', 1e3],
};

/** The values of `--impairment`: `starlink` or `none`, or these with changes: `starlink,burst-ms=20`. Changed losses
 * replace a trace's own. @throws {InputError} of it */
export function impairmentNamed(text: string): Impairment {
  const [name = '', ...changes] = text.split(',');
  const expected = (what: string, found: string) => new InputError('--impairment', what, found);
  if (!(name in NAMED)) throw expected(`one of ${Object.keys(NAMED).join(', ')}, or such as starlink,loss=0.02`, name);
  const impairment = { ...NAMED[name as keyof typeof NAMED] };
  for (const change of changes) {
    const [, key = '', number = ''] = /^([a-z-]+)=(\d*\.?\d+)$/.exec(change) ?? [];
    const part = PARTS[key];
    if (part === undefined) throw expected(`${name} and any of ${Object.keys(PARTS).join('=, ')}=`, change);
    const [field, units] = part;
    impairment[field] = Number(number) * units;
    if (field === 'loss' || field === 'burstSeconds') impairment.keepsRecordedLoss = false;
    if (units === 1 && impairment[field] >= 1) throw expected(`a share below 1 for ${key}`, number);
  }
  return impairment;
}

/**
 * The session's link from `startSeconds` of the trace, cyclic. Rates are the scaled trace's including headers: the
 * kernel's own headers replace `payloadShare`. A trace
 * without a clock has no handovers. `seed`, by default 1, determines bursts and jitter.
 */
export function kernelSteps(
  trace: Trace,
  scenario: Scenario,
  { startSeconds, impairment, seed = 1 }: { startSeconds: number; impairment: Impairment; seed?: number },
): KernelSteps {
  const wrap = wrapSeconds(trace);
  const { stepEndsSeconds, ratesBps } = linkSteps(trace, traceScaleOf(scenario, meanRateBps(trace)));
  const offset = startSeconds % wrap;
  const handovers = handoversOf(trace, wrap, impairment);
  const random = seededRandom(seed);
  const bursts = burstsOf(wrap, impairment, random);
  const { jitterSeconds } = impairment;
  const edges = new Set(stepEndsSeconds.map((end) => Math.min(end, wrap)));
  edges.add(wrap);
  for (const { from, to } of [...handovers, ...bursts])
    for (const at of [from, to]) if (at > 0 && at < wrap) edges.add(at);
  const jitters = Array.from({ length: jitterSeconds > 0 ? Math.ceil(wrap / JITTER_STEP_SECONDS) : 1 }, random);
  for (let i = 1; i < jitters.length; i++) edges.add(i * JITTER_STEP_SECONDS);
  if (offset > 0) edges.add(offset);
  const pieces: KernelStep[] = [];
  let begin = 0;
  let step = 0;
  for (const end of [...edges].sort((a, b) => a - b)) {
    const middle = (begin + end) / 2;
    while (step < stepEndsSeconds.length - 1 && stepEndsSeconds[step]! <= middle) step++;
    const isWithin = ({ from, to }: Interval) => middle >= from && middle < to;
    const isHandover = handovers.some(isWithin);
    const own = impairment.keepsRecordedLoss ? trace.loss?.[step] : undefined;
    const assumed = impairment.burstSeconds === 0 ? impairment.loss : Number(bursts.some(isWithin));
    const loss = own === undefined || Number.isNaN(own) ? assumed : own;
    const jitter = jitterSeconds * jitters[Math.min(jitters.length - 1, Math.floor(middle / JITTER_STEP_SECONDS))]!;
    pieces.push({
      endSeconds: end,
      bps: ratesBps[step]!,
      loss: Math.min(1, loss + (isHandover ? impairment.handoverLoss : 0)),
      extraDelaySeconds: (jitter + (isHandover ? impairment.handoverDelaySeconds : 0)) / 2,
    });
    begin = end;
  }
  const steps = pieces
    .map((piece) => {
      const end = piece.endSeconds - offset;
      return { ...piece, endSeconds: end > 0 ? end : end + wrap };
    })
    .sort((a, b) => a.endSeconds - b.endSeconds);
  return { steps, wrapSeconds: wrap, queueBytes: impairment.queueBytes };
}

/** The commands of `link-emulator.c` and of `transport/` for this link; `seed` determines which packets are lost. */
export function linkCommands(
  { steps, wrapSeconds, queueBytes = QUEUE_BYTES }: KernelSteps,
  { rttSeconds, seed }: { rttSeconds: number; seed: number },
): string {
  const lines = steps.map(
    ({ endSeconds, bps, loss, extraDelaySeconds }) =>
      `${micros(endSeconds)} ${bps} ${Math.round(loss * 1e6)} ${micros(extraDelaySeconds)}`,
  );
  const link = `link ${micros(rttSeconds)} ${queueBytes}`;
  return [link, `steps ${steps.length} ${micros(wrapSeconds)} ${seed >>> 0}`, ...lines].join('\n');
}

function micros(seconds: number): number {
  return Math.round(seconds * 1e6);
}

interface Interval {
  from: number;
  to: number;
}

/** Bursts and the times between them have exponential durations, such that a share `loss` of the time is lost. */
function burstsOf(wrap: number, { loss, burstSeconds }: Impairment, random: Random): Interval[] {
  const bursts: Interval[] = [];
  if (burstSeconds === 0 || loss === 0) return bursts;
  const duration = (mean: number) => -mean * Math.log(1 - random());
  for (let from = duration(burstSeconds * (1 / loss - 1)); from < wrap; ) {
    const to = Math.min(wrap, from + duration(burstSeconds));
    bursts.push({ from, to });
    from = to + duration(burstSeconds * (1 / loss - 1));
  }
  return bursts;
}

function handoversOf(trace: Trace, wrap: number, { handoverSeconds }: Impairment): Interval[] {
  const { startUtcMs, epochPhaseSeconds } = trace.metadata;
  if (handoverSeconds === 0 || (startUtcMs === undefined && epochPhaseSeconds === undefined)) return [];
  const phase = (traceStartUtcMs(trace.metadata) / 1000) % EPOCH_SECONDS;
  const first = (((HANDOVER_SECOND - phase) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
  const handovers: Interval[] = [];
  for (let from = first; from < wrap; from += EPOCH_SECONDS) {
    handovers.push({ from, to: Math.min(wrap, from + handoverSeconds) });
  }
  return handovers;
}
