/** For tests: artificial traces, with rates in Mbit/s, simple controllers and a forecaster that only watches. */

import fc from 'fast-check';
import type { Controller, Forecaster, Observation } from '../../abr/index.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { type BrowserModel, MEASURED_BROWSER } from '../scenarios.ts';
import type { Trace, TraceMetadata } from '../trace.ts';

/** The textbook player: every delay is 0. */
export const IDEAL_BROWSER = Object.fromEntries(Object.keys(MEASURED_BROWSER).map((name) => [name, 0])) as {
  [Delay in keyof BrowserModel]: number;
};

/** In a scenario: a link as in its trace, and exact sizes. */
export const EXACT = { traceScale: { factor: 1 }, payloadShare: 1, sizeSpread: 0 };

/** Rates, each until a second. */
export function traceUntil(
  steps: readonly { until: number; mbps: number }[],
  metadata: Partial<TraceMetadata> = {},
): Trace {
  return {
    name: 'made up',
    stepEndsSeconds: Float64Array.from(steps, ({ until }) => until),
    ratesBps: Float64Array.from(steps, ({ mbps }) => mbps * 1e6),
    durationSeconds: steps.at(-1)!.until,
    metadata: { dataset: 'test', recordingGroup: 'test', ...metadata },
  };
}

/** Rates of steps of one length. */
export const traceOfRates = (ratesMbps: readonly number[], stepSeconds = 1, metadata?: Partial<TraceMetadata>): Trace =>
  traceUntil(
    ratesMbps.map((mbps, i) => ({ until: (i + 1) * stepSeconds, mbps })),
    metadata,
  );

/** Rates, each for some seconds; the first is higher, so that there is always some capacity before the wrap. */
export function traceOfParts(parts: readonly { seconds: number; mbps: number }[], firstExtraMbps: number): Trace {
  let until = 0;
  return traceUntil(
    parts.map(({ seconds, mbps }, i) => {
      until += seconds;
      return { until, mbps: i === 0 ? mbps + firstExtraMbps : mbps };
    }),
  );
}

/** Any parts for `traceOfParts`. */
export const partsUpTo = (mostMbps: number, { maxLength }: { maxLength: number }) => {
  const seconds = fc.double({ min: 0.1, max: 20, noNaN: true });
  const mbps = fc.oneof(fc.constant(0), fc.double({ min: 0.2, max: mostMbps, noNaN: true }));
  return fc.array(fc.record({ seconds, mbps }), { minLength: 1, maxLength });
};

const decision = (representation: number) => ({ representation, controller: 'made up', reason: 'made up' });

/** Chooses and abandons at random. */
export function restless(seed: number, representationCount: number): Controller {
  const random = seededRandom(seed);
  const any = () => decision(Math.floor(random() * representationCount));
  return {
    name: 'restless',
    decide: any,
    reconsider({ ladderBps }, { bitrateBps }) {
      const other = any();
      return random() < 0.05 && ladderBps[other.representation] !== bitrateBps ? other : 'keep';
    },
  };
}

export function always(representation: number): Controller {
  return { name: 'fixed', decide: () => decision(representation) };
}

export const recorder = (observe: (observation: Observation) => void): Forecaster => {
  return { name: 'recorder', start() {}, observe, latest: () => undefined };
};

/** Plays a plan of representations; abandons a download for the lowest after `patienceSeconds`, by default never. */
export function follows(plan: readonly number[], patienceSeconds?: number): Controller {
  const decide: Controller['decide'] = ({ segmentIndex }) => decision(plan[segmentIndex]!);
  if (patienceSeconds === undefined) return { name: 'plan', decide };
  return {
    name: 'plan',
    decide,
    reconsider: ({ nowSeconds, ladderBps }, { bitrateBps, requestedAtSeconds }) =>
      bitrateBps > ladderBps[0]! && nowSeconds - requestedAtSeconds > patienceSeconds ? decision(0) : 'keep',
  };
}
