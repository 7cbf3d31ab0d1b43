/**
 * Random player states, paths, download histories and observations of links for property tests. Half of the numbers are small integers, and
 * representations may share a bitrate or a size, so that plans really tie.
 */

import fc from 'fast-check';
import type { Download, InFlight, LiveState, PlayerState } from './controller.ts';
import type { HandoverDip, Observation, PathForecast, QuantileForecast, ValidForecast } from './forecast.ts';
import { type CapacityPath, ConstantPath, PiecewisePath } from './mpc/capacity-path.ts';
import { between, whole } from './property.fixture.ts';
import { bitrateWeights, type QoeWeights } from './qoe/qoe.ts';
import { validForecast } from './valid-forecast.ts';

/** An integer or any number between two bounds. */
export function anyNumber(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: Math.ceil(min), max }), between(min, max));
}

export function runningSums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}

export const LADDERS_BPS = [[3e6, 8e6, 15e6, 30e6, 60e6, 120e6], [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3], [4e6]];

/** Bitrates in bit/s, ascending, one to six, some equal to their neighbour. */
export function anyLadder(): fc.Arbitrary<number[]> {
  return fc.oneof(
    fc.constantFrom(...LADDERS_BPS),
    fc
      .tuple(whole(1, 4), fc.array(whole(0, 4), { maxLength: 4 }))
      .map(([lowest, steps]) => runningSums([lowest, ...steps].map((mbps) => mbps * 1e6))),
  );
}

const QUALITIES: QoeWeights['quality'][] = [(bps) => bps / 1e6, (bps) => Math.floor(bps / 2e6), () => 1];

export function anyWeights(ladderBps: readonly number[]): fc.Arbitrary<QoeWeights> {
  return fc.oneof(
    fc.constant(bitrateWeights('linear', ladderBps)),
    fc.constant(bitrateWeights('log', ladderBps)),
    fc.record({
      quality: fc.constantFrom(...QUALITIES),
      mu: fc.constantFrom(0, 1, 2, 4.3, 30),
      lambda: fc.constantFrom(0, 0.5, 1, 2),
      rise: fc.constantFrom(0, 0.5),
      stall: fc.constantFrom(0, 3),
    }),
  );
}

/** Downloads of one session, oldest first, one after another. */
export function anyDownloads(maxLength = 16): fc.Arbitrary<Download[]> {
  const anyRow = fc.record({
    bitrateBps: whole(1, 20).map((mbps) => mbps * 1e6),
    sizeBits: whole(1, 80).map((megabits) => megabits * 1e6),
    downloadSeconds: anyNumber(0.25, 8),
  });
  return fc.array(anyRow, { maxLength }).map((rows) => {
    const ends = runningSums(rows.map(({ downloadSeconds }) => downloadSeconds));
    return rows.map((row, segmentIndex) => {
      const requestedAtSeconds = ends[segmentIndex - 1] ?? 0;
      return { ...row, segmentIndex, requestedAtSeconds, receivedBits: row.sizeBits, abandoned: false };
    });
  });
}

/** A running session at second 100: 6 of 30 s buffered, segments of 4 s and nominal size, no downloads yet. */
export function stateOf(ladderBps: readonly number[], changes: Partial<PlayerState> = {}): PlayerState {
  const { segmentSeconds = 4 } = changes;
  const player = { nowSeconds: 100, started: true, playbackRate: 1, isPaused: false };
  const buffer = { bufferLevelSeconds: 6, bufferCapSeconds: 30 };
  const media = { segmentSeconds, segmentIndex: 20, segmentsRemaining: Number.POSITIVE_INFINITY, ladderBps };
  const upcomingSizesBits = [ladderBps.map((bps) => bps * segmentSeconds)];
  const past = { previousBitrateBps: ladderBps[0], downloads: [] };
  const weights = bitrateWeights('linear', ladderBps);
  return { ...player, ...buffer, ...media, upcomingSizesBits, ...past, weights, ...changes };
}

/** Complete downloads of a bitrate, one after another from segment 0 on. */
export function downloadsOf(count: number, bitrateBps: number, sizeBits: number, downloadSeconds: number): Download[] {
  const one = { bitrateBps, receivedBits: sizeBits, sizeBits, downloadSeconds, abandoned: false };
  return Array.from({ length: count }, (_, segmentIndex) => {
    return { ...one, segmentIndex, requestedAtSeconds: segmentIndex * downloadSeconds };
  });
}

export function alongPath(path: CapacityPath, issuedAtSeconds = 100): ValidForecast<PathForecast> {
  const issuedAtMs = 1000 * issuedAtSeconds;
  return validForecast<PathForecast>({ kind: 'path', issuedAtMs, source: 'oracle', path, handovers: [] });
}

const LEVELS = [0.1, 0.5, 0.9];
const collapse = { probability: 0.1, depth: 0.6, seconds: 1.5 };
export const DIP: HandoverDip = { timingSeconds: 0.1, depth: 0.8, levels: LEVELS, seconds: [0.1, 0.2, 0.5], collapse };
export const FLUCTUATION = { levels: LEVELS, ratios: [0.8, 1, 1.2], correlation: 0.4 };

/** Quantiles around a rate, issued at second 100, with a factor per step and one per quantile level. */
export function quantilesOf(
  bps: number,
  given: { factors?: number[]; shares?: number[] } & Partial<QuantileForecast> = {},
): ValidForecast<QuantileForecast> {
  const { factors, shares = [1, 1, 1], ...changes } = given;
  const { stepEndsSeconds = [4, 16, 48] } = changes;
  return validForecast<QuantileForecast>({
    issuedAtMs: 100e3,
    source: 'test',
    stepEndsSeconds,
    levels: LEVELS,
    quantilesBps: Array.from(stepEndsSeconds, (_, i) => shares.map((share) => share * (factors?.[i] ?? 1) * bps)),
    rankCorrelation: 0.7,
    handovers: [],
    ...changes,
  });
}

export function anyState(downloads: fc.Arbitrary<Download[]> = fc.constant([])): fc.Arbitrary<PlayerState> {
  return anyLadder().chain((ladderBps) =>
    fc
      .record({
        segmentSeconds: fc.constantFrom(1, 2, 4),
        started: fc.boolean(),
        level: anyNumber(0, 24),
        // Powers of two, so that rounding cannot tip what a path with steps of rate 0 delivers.
        playbackRate: fc.constantFrom(1, 1, 0.5, 2),
        isPaused: whole(0, 9).map((n) => n === 0),
        capSegments: fc.constantFrom(1, 1.5, 2, 4, 15),
        segmentsRemaining: fc.oneof(whole(1, 8), fc.constant(Number.POSITIVE_INFINITY)),
        factors: fc.array(fc.oneof(fc.constantFrom(0.5, 1, 1, 1.5), between(0.2, 3)), { minLength: 1, maxLength: 8 }),
        alike: whole(0, 9),
        previousBitrateBps: fc.oneof(fc.constantFrom(undefined, 2.5e6, ...ladderBps), fc.constantFrom(...ladderBps)),
        weights: anyWeights(ladderBps),
        downloads,
      })
      .map(({ level, capSegments, factors, alike, ...rest }) => {
        // In one state of ten all representations of a segment have one size.
        const averages = ladderBps.map((bps) => (alike === 0 ? ladderBps[0]! : bps) * rest.segmentSeconds);
        return stateOf(ladderBps, {
          ...rest,
          segmentIndex: 3,
          bufferLevelSeconds: rest.started ? level : 0,
          bufferCapSeconds: capSegments * rest.segmentSeconds,
          upcomingSizesBits: factors.map((factor) => averages.map((bits) => bits * factor)),
        });
      }),
  );
}

/** A live stream at its target of 1.2 s, in chunks of 0.5 s; the segment's first chunk exists since second 100. */
export function liveOf(changes: Partial<LiveState> = {}): LiveState {
  const latencies = { latencySeconds: 1.2, targetLatencySeconds: 1.2, maxLatencySeconds: 4 };
  const chunks = { chunkSeconds: 0.5, firstChunkAtSeconds: 100 };
  return { ...latencies, ...chunks, playbackRates: { min: 0.95, max: 1.05 }, ...changes };
}

export function anyLive({ segmentSeconds, nowSeconds }: PlayerState): fc.Arbitrary<LiveState> {
  return fc
    .record({
      // A clock may be wrong by an hour.
      latencySeconds: fc.oneof({ weight: 20, arbitrary: between(0.1, 6) }, fc.constantFrom(-3600, 3600)),
      targetLatencySeconds: between(0.4, 4),
      chunks: fc.constantFrom(1, 2, 4, 30),
      playbackRates: fc.constantFrom({ min: 0.95, max: 1.05 }, { min: 1, max: 1 }, { min: 0.5, max: 2 }),
      maxLatencySeconds: fc.constantFrom(2, 5),
      offRateShare: fc.constantFrom(0, 0.05, 0.1, 0.14, 0.3, 1),
      firstChunkAtSeconds: between(nowSeconds - 6, nowSeconds + 4),
    })
    .map(({ chunks, ...rest }) => ({ ...rest, chunkSeconds: segmentSeconds / chunks }));
}

/** The download of the state's segment, by default requested a second ago. */
export function inFlightOf(state: PlayerState, rung: number, receivedShare: number, elapsedSeconds = 1): InFlight {
  const { segmentIndex, nowSeconds, ladderBps, upcomingSizesBits } = state;
  const [bitrateBps, sizeBits] = [ladderBps[rung]!, upcomingSizesBits[0]![rung]!];
  const requestedAtSeconds = nowSeconds - elapsedSeconds;
  const begun = receivedShare > 0 && { firstByteAtSeconds: requestedAtSeconds + 0.1 };
  const receivedBits = receivedShare * sizeBits;
  return { segmentIndex, bitrateBps, sizeBits, requestedAtSeconds, receivedBits, ...begun, abandonments: 0 };
}

/** The question with bitrates, sizes, measurements and quantiles times `by`, without a path, for QoE on bitrates. */
export function scaledQuestion(question: Question, by: number, form: 'linear' | 'log'): Question {
  const { state, inFlight, forecast } = question;
  const scaled = <T extends Download | InFlight>(one: T): T => {
    const { bitrateBps, receivedBits, sizeBits } = one;
    return { ...one, bitrateBps: by * bitrateBps, receivedBits: by * receivedBits, sizeBits: by * sizeBits };
  };
  const ladderBps = state.ladderBps.map((bps) => by * bps);
  const upcomingSizesBits = state.upcomingSizesBits.map((row) => row.map((bits) => by * bits));
  const previousBitrateBps = state.previousBitrateBps && by * state.previousBitrateBps;
  const downloads = state.downloads.map(scaled);
  const weights = bitrateWeights(form, ladderBps);
  return {
    state: { ...state, ladderBps, upcomingSizesBits, previousBitrateBps, downloads, weights },
    inFlight: scaled(inFlight),
    forecast: forecast && forecast.kind !== 'path' ? scaledForecast(forecast, by) : undefined,
  };
}

export function scaledForecast<F extends QuantileForecast>(forecast: F, by: number): F {
  return { ...forecast, quantilesBps: forecast.quantilesBps.map((row) => row.map((bps) => by * bps)) };
}

/** Throughput of the last download, bit/s. */
export function rateOf({ downloads }: PlayerState): number {
  const last = downloads[downloads.length - 1];
  return last === undefined ? 5e6 : last.receivedBits / last.downloadSeconds;
}

/** Quantiles around a link of `bps`, different in each step, sometimes with an outage. */
export function anyQuantiles(
  { nowSeconds, utcMs }: PlayerState,
  bps: number,
): fc.Arbitrary<ValidForecast<QuantileForecast>> {
  const clockMs = Number.isFinite(utcMs) ? utcMs! : 0;
  const anyLength = fc.constantFrom(0.5, 1, 2, 4);
  const anyFactor = fc.oneof({ weight: 12, arbitrary: between(0.5, 1.6) }, fc.constant(0));
  return fc
    .record({
      ageSeconds: between(0, 14),
      handoverInSeconds: anyNumber(-2, 20),
      confidence: fc.constantFrom(0.2, 1),
      spread: between(0, 3),
      lengths: fc.array(fc.tuple(anyLength, anyFactor), { minLength: 1, maxLength: 20 }),
      levels: fc.constantFrom([0.5], [0.1, 0.5, 0.9], [0.05, 0.25, 0.5, 0.75, 0.95], [0.2, 0.5, 0.8]),
      rankCorrelation: fc.constantFrom(0, 0.4, 0.7, 0.85, 1),
      correlation: fc.constantFrom(undefined, 0, 0.4, 0.7, 0.95),
    })
    .filter(({ lengths }) => lengths.at(-1)![1] > 0)
    .map(({ ageSeconds, handoverInSeconds, confidence, spread, lengths, correlation, ...rest }) => {
      return quantilesOf(bps, {
        ...rest,
        stepEndsSeconds: runningSums(lengths.map(([seconds]) => seconds)),
        factors: lengths.map(([, factor]) => factor),
        shares: rest.levels.map((level) => Math.exp(spread * (level - 0.5))),
        issuedAtMs: (nowSeconds - ageSeconds) * 1000,
        handovers: [{ atMs: clockMs + 1000 * handoverInSeconds, confidence, dip: DIP }],
        ...(correlation !== undefined && { fluctuation: { ...FLUCTUATION, correlation } }),
      });
    });
}

/** A forecast near the throughput of the last download, of quantiles or a path. */
export function anyForecast(state: PlayerState): fc.Arbitrary<ValidForecast> {
  const anyFactor = fc.oneof({ weight: 20, arbitrary: between(0.4, 1.8) }, fc.constant(0));
  const anyPath = fc
    .tuple(anyFactor, anyNumber(0, 5))
    .map(([factor, age]) => alongPath(new ConstantPath(factor * rateOf(state)), state.nowSeconds - age));
  return fc.oneof(anyQuantiles(state, rateOf(state)), anyPath);
}

export interface Question {
  state: PlayerState;
  inFlight: InFlight;
  forecast: ValidForecast | undefined;
}

/** A question at any time, with or without a clock and a forecast; `isLive`: of a live stream, else of either kind. */
export function anyQuestion(isLive = false): fc.Arbitrary<Question> {
  const wrongMs = fc.constantFrom(undefined, Number.NaN, Number.POSITIVE_INFINITY, 1e12 + 3600e3, 1e12 - 3600e3, 0);
  const anyStart = fc.oneof(fc.constant(1e12), wrongMs);
  return fc.tuple(anyState(anyDownloads(6)), anyNumber(0, 60), anyStart).chain(([early, seconds, startMs]) => {
    const state = { ...early, nowSeconds: early.nowSeconds + seconds, utcMs: startMs && startMs + 1000 * seconds };
    const live = isLive ? anyLive(state) : fc.option(anyLive(state), { nil: undefined, freq: 2 });
    const representation = fc.nat({ max: state.ladderBps.length - 1 });
    const forecast = fc.option(anyForecast(state), { nil: undefined });
    return fc
      .tuple(live, representation, fc.constantFrom(0, 0.01, 0.4, 1), forecast)
      .map(([live, representation, receivedShare, forecast]) => ({
        state: live ? { ...state, live } : state,
        inFlight: inFlightOf(state, representation, receivedShare),
        forecast,
      }));
  });
}

/** Constant and varying links, also dead ones and ones with latency. */
export function anyPath(): fc.Arbitrary<CapacityPath> {
  const rateBps = fc.oneof(fc.constant(0), anyNumber(0.01, 12)).map((mbps) => mbps * 1e6);
  const latency = fc.constantFrom(0, 0, 0.04, 1);
  const anySteps = fc.array(fc.tuple(whole(1, 8), rateBps), { minLength: 1, maxLength: 12 });
  return fc.oneof(
    rateBps.map((rate) => new ConstantPath(rate)),
    fc.tuple(anySteps, latency, anyNumber(0, 10)).map(([steps, latencySeconds, originSeconds]) => {
      const stepEndsSeconds = runningSums(steps.map(([seconds]) => seconds));
      const ratesBps = steps.map(([, rate]) => rate);
      return new PiecewisePath({ stepEndsSeconds, ratesBps, latencySeconds }).from(originSeconds);
    }),
  );
}

/** Observations, most of them possible, with random numbers. */
export const anyObservation: fc.Arbitrary<Observation> = (() => {
  const number = fc.oneof(fc.double(), between(0, 1000), fc.constant(0));
  return fc.oneof(
    fc.record({ kind: fc.constant('throughput' as const), startSeconds: number, endSeconds: number, bits: number }),
    fc.tuple(between(0, 600), between(0, 2), number).map(([startSeconds, seconds, bits]) => {
      return { kind: 'throughput' as const, startSeconds, endSeconds: startSeconds + seconds, bits };
    }),
    fc.record({ kind: fc.constant('request-latency' as const), atSeconds: number, latencySeconds: number }),
    fc.record({ kind: fc.constant('idle' as const), startSeconds: number, endSeconds: number }),
  );
})();

/** Pieces of a session in order of time. */
export const anySession = fc
  .array(fc.record({ afterSeconds: between(0, 20), seconds: between(0.02, 8), mbps: between(0, 300) }))
  .map((pieces) => {
    let untilSeconds = 0;
    return pieces.map(({ afterSeconds, seconds, mbps }) => {
      const startSeconds = untilSeconds + afterSeconds;
      untilSeconds = startSeconds + seconds;
      return { kind: 'throughput' as const, startSeconds, endSeconds: untilSeconds, bits: mbps * 1e6 * seconds };
    });
  });
