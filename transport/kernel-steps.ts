/** The trace as steps of the emulated link: rates, and the loss and delay of handovers. */

import { InputError } from '../abr/errors.ts';
import { EPOCH_SECONDS } from '../abr/forecast.ts';
import { seededRandom } from '../abr/statistics/random.ts';
import { type Scenario, traceScaleOf } from '../replay/scenarios.ts';
import { handoverPhaseOf, linkSteps, type Trace, traceStartUtcMs, wrapSeconds } from '../replay/trace.ts';

interface KernelStep {
  endSeconds: number;
  bps: number;
  loss: number;
  /** Added to the link's delay in each direction. */
  extraDelaySeconds: number;
}

export interface KernelSteps {
  steps: KernelStep[];
  /** The steps repeat with this period. */
  wrapSeconds: number;
  /** Size of the queue in front of the link. Default: `QUEUE_BYTES`. */
  queueBytes?: number;
}

/** 100 ms of a Starlink downlink of 120 Mbit/s. */
export const QUEUE_BYTES = (0.1 * 120e6) / 8;

/** Loss and delay beyond the trace's rates, and the size of the queue. */
export interface Impairment {
  /** Share of packets lost at any time, unrelated to congestion. */
  loss: number;
  /** Whether the trace's recorded losses, if any, replace `loss`. */
  keepsRecordedLoss: boolean;
  /** Every 20 ms the addition to the round trip changes, uniformly up to this. Packets stay in order. */
  jitterSeconds: number;
  hasHandovers: boolean;
  queueBytes: number;
}

/** The middle of measurements on Starlink: +30 to 50 ms for 35 to 50 ms (Huston, APNIC 2024). */
const HANDOVER = { seconds: 0.045, loss: 0.01, delaySeconds: 0.04 };

export const NO_IMPAIRMENT: Impairment = {
  loss: 0,
  keepsRecordedLoss: true,
  jitterSeconds: 0,
  hasHandovers: false,
  queueBytes: QUEUE_BYTES,
};
/** Starlink loses 1 to 2 %, unrelated to congestion (Huston). */
export const STARLINK_IMPAIRMENT: Impairment = { ...NO_IMPAIRMENT, loss: 0.01, hasHandovers: true };

const JITTER_STEP_SECONDS = 0.02;
const NAMED = new Map([
  ['starlink', STARLINK_IMPAIRMENT],
  ['none', NO_IMPAIRMENT],
]);
/** Changes of a named impairment, by name: the fields that a number sets. */
const CHANGES = new Map<string, (value: number) => Partial<Impairment>>([
  ['loss', (loss) => ({ loss, keepsRecordedLoss: false })],
  ['jitter-ms', (ms) => ({ jitterSeconds: ms / 1e3 })],
  ['queue-kb', (kilobytes) => ({ queueBytes: kilobytes * 1e3 })],
]);

/** Parses `starlink` or `none`, with or without changes: `starlink,loss=0.02`. @throws {InputError} */
export function impairmentNamed(text: string): Impairment {
  const expected = (what: string, found: string) => new InputError('--impairment', what, found);
  const [name = '', ...changes] = text.split(',');
  let impairment = NAMED.get(name);
  if (!impairment) throw expected(`one of ${[...NAMED.keys()].join(', ')}, or such as starlink,loss=0.02`, name);
  for (const change of changes) {
    const [, key = '', number = ''] = /^([a-z-]+)=(\d*\.?\d+)$/.exec(change) ?? [];
    const changed = CHANGES.get(key)?.(Number(number));
    if (!changed) throw expected(`${name} and any of ${[...CHANGES.keys()].join('=, ')}=`, change);
    impairment = { ...impairment, ...changed };
    if (impairment.loss >= 1) throw expected('a share below 1 for loss', number);
  }
  return impairment;
}

/** The link from `startSeconds` of the trace, cyclic. The kernel's own headers replace `payloadShare`. */
export function kernelSteps(
  trace: Trace,
  scenario: Scenario,
  { startSeconds, impairment, seed = 1 }: { startSeconds: number; impairment: Impairment; seed?: number },
): KernelSteps {
  const { jitterSeconds, keepsRecordedLoss, queueBytes } = impairment;
  const wrap = wrapSeconds(trace);
  const { stepEndsSeconds, ratesBps } = linkSteps(trace, traceScaleOf(scenario, trace));
  const offset = startSeconds % wrap;
  const handovers = impairment.hasHandovers ? handoversOf(trace, wrap) : [];
  const jitterSteps = jitterSeconds > 0 ? Math.ceil(wrap / JITTER_STEP_SECONDS) : 1;
  const jitters = Array.from({ length: jitterSteps }, seededRandom(seed));
  const edges = [
    ...stepEndsSeconds,
    ...handovers.flatMap((from) => [from, from + HANDOVER.seconds]),
    ...jitters.map((_, i) => i * JITTER_STEP_SECONDS),
    offset,
  ].filter((at) => at > 0 && at < wrap);
  let begin = 0;
  let step = 0;
  const steps = [...new Set(edges), wrap]
    .sort((a, b) => a - b)
    .map((end): KernelStep => {
      const middle = (begin + end) / 2;
      begin = end;
      while (step < stepEndsSeconds.length - 1 && stepEndsSeconds[step]! <= middle) step++;
      const isHandover = handovers.some((from) => middle >= from && middle < from + HANDOVER.seconds);
      const recorded = keepsRecordedLoss ? (trace.loss?.[step] ?? Number.NaN) : Number.NaN;
      const loss = Number.isNaN(recorded) ? impairment.loss : recorded;
      const jitter = jitterSeconds * jitters[Math.min(jitterSteps - 1, Math.floor(middle / JITTER_STEP_SECONDS))]!;
      return {
        endSeconds: end > offset ? end - offset : end - offset + wrap,
        bps: ratesBps[step]!,
        loss: Math.min(1, loss + (isHandover ? HANDOVER.loss : 0)),
        extraDelaySeconds: (jitter + (isHandover ? HANDOVER.delaySeconds : 0)) / 2,
      };
    })
    .sort((a, b) => a.endSeconds - b.endSeconds);
  return { steps, wrapSeconds: wrap, queueBytes };
}

/** The commands of src/link.h for this link; `seed` determines which packets are lost. */
export function linkCommands(
  { steps, wrapSeconds, queueBytes = QUEUE_BYTES }: KernelSteps,
  { rttSeconds, seed }: { rttSeconds: number; seed: number },
): string {
  const micros = (seconds: number) => Math.round(seconds * 1e6);
  const lines = steps.map(
    ({ endSeconds, bps, loss, extraDelaySeconds }) =>
      `${micros(endSeconds)} ${bps} ${Math.round(loss * 1e6)} ${micros(extraDelaySeconds)}`,
  );
  const link = `link ${micros(rttSeconds)} ${queueBytes}`;
  return [link, `steps ${steps.length} ${micros(wrapSeconds)} ${seed >>> 0}`, ...lines].join('\n');
}

/** The seconds of the trace at which handovers begin; none without a clock. */
function handoversOf({ metadata }: Trace, wrap: number): number[] {
  if (metadata.startUtcMs === undefined && metadata.epochPhaseSeconds === undefined) return [];
  const first = handoverPhaseOf((traceStartUtcMs(metadata) / 1000) % 60);
  return Array.from({ length: Math.ceil((wrap - first) / EPOCH_SECONDS) }, (_, i) => first + i * EPOCH_SECONDS);
}
