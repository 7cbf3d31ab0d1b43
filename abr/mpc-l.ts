/**
 * MPC-L: model-predictive control over a distribution of futures, with recourse.
 *
 * The segment to decide on is tried in every future of the forecast; what comes after it is valued by a stochastic
 * dynamic programme in which later decisions depend on the capacity seen until then (`mpc-l/value-function.ts`). A
 * running download may be abandoned, now (`reconsider`) and in the plan. docs/mpc-l.md has the algorithm, its sources
 * and what each part is worth.
 */

import type { CandidateOutlook, Controller, Decision, InFlight, PlayerState } from './controller.ts';
import type { Forecast, PathForecast, QuantileForecast } from './forecast.ts';
import { createMpcD } from './mpc-d.ts';
import { Futures, MAX_STEPS } from './mpc-l/futures.ts';
import { type MpcLOptions, type ResolvedMpcLOptions, resolveMpcLOptions } from './mpc-l/options.ts';
import { isPlausible } from './mpc-l/plausibility.ts';
import { rankTransitions } from './mpc-l/rank-chain.ts';
import { ValueFunction, type ValueStage } from './mpc-l/value-function.ts';
import { robustThroughput } from './robust-throughput.ts';

export type { MpcLOptions } from './mpc-l/options.ts';

/** A forecast older than an epoch says nothing about this one. */
const STALE_SECONDS = 15;
/** Request latency before any was measured. */
const DEFAULT_LATENCY_SECONDS = 0.05;
/** Where given paths are looked at before they are believed. */
const PATH_CHECK_SECONDS = 20;
/** Downloads that latency is looked for in. */
const RECENT_DOWNLOADS = 16;
/** Downloads before which a session counts as starting, for `startup: false`. */
const STARTUP_DOWNLOADS = 2;

/** Throws `InputError` where an option cannot be worked with. */
export function createMpcL(options: MpcLOptions = {}): Controller {
  return new MpcL(resolveMpcLOptions(options));
}

const NO_TRANSITIONS = new Float64Array(0);

/** A download to be weighed: what is asked for, or what is left of it. */
interface Request {
  representation: number;
  bits: number;
  /** Seconds until its first bit; 0 when bits are flowing. */
  latencySeconds: number;
}

class MpcL implements Controller {
  readonly name: string;
  private readonly futures: Futures;
  private readonly value = new ValueFunction();
  private readonly fallback: Controller;
  private readonly transitions = new Map<number, Float64Array>();
  private readonly outcomes: Float64Array;
  private readonly stages: ValueStage[] = [];
  private readonly stepEndsSeconds = new Float64Array(MAX_STEPS);
  private readonly bufferValuePerSecond: Float64Array;
  private qualities = new Float64Array(0);
  private latencySeconds = DEFAULT_LATENCY_SECONDS;
  private stallSeconds = 0;

  constructor(private readonly options: ResolvedMpcLOptions) {
    this.name = options.name;
    this.futures = new Futures(options.futures, options.tuning.bins, options.seed);
    this.outcomes = new Float64Array(options.futures);
    this.bufferValuePerSecond = new Float64Array(options.tuning.bins);
    this.fallback = createMpcD({ name: options.name, abandon: options.abandon });
  }

  decide(state: PlayerState, forecast?: Forecast): Decision {
    const usable = this.usable(state, forecast);
    if (usable === undefined || !isPlausible(usable, state)) {
      const decision = this.fallback.decide(state);
      return { ...decision, controller: this.name, reason: `no forecast: mpc-d, ${decision.reason}` };
    }
    this.prepare(state, usable);
    const { ladderBps } = state;
    const ceilingBps = abandonedBefore(state);
    const candidates: CandidateOutlook[] = [];
    let best = -1;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (let r = 0; r < ladderBps.length; r++) {
      const value = this.weigh(state, this.freshRequest(state, r));
      candidates.push({ bitrateBps: ladderBps[r]!, expectedQoe: value, expectedStallSeconds: this.stallSeconds });
      // Straight back up after an abandonment is a ping-pong that costs two switches.
      if (r > 0 && ladderBps[r]! >= ceilingBps) continue;
      if (best < 0 || value > bestValue) {
        bestValue = value;
        best = r;
      }
    }
    const stall = candidates[best]!.expectedStallSeconds;
    return {
      representation: best,
      controller: this.name,
      reason: `expected QoE ${bestValue.toFixed(1)}, stall ${stall.toFixed(2)} s by ${usable.source}`,
      ...this.basis(state, usable),
      ...(this.options.outlook && { candidates }),
    };
  }

  reconsider(state: PlayerState, inFlight: InFlight, forecast?: Forecast): Decision | 'keep' {
    const { options, futures } = this;
    const { tuning } = options;
    const usable = this.usable(state, forecast);
    if (!options.abandon || usable === undefined || inFlight.abandonments >= options.maxAbandonments) return 'keep';
    if (state.nowSeconds - inFlight.requestedAtSeconds < tuning.settleSeconds) return 'keep';
    if (state.started && state.bufferLevelSeconds > tuning.patienceSegments * state.segmentSeconds) return 'keep';
    if (exceedsWaste(inFlight, options.maxWastedShare)) return 'keep';
    const current = lastIndexAtMost(state.ladderBps, inFlight.bitrateBps);
    if (current <= 0) return 'keep';
    if (!isPlausible(usable, state, inFlight)) return this.reconsiderBlindly(state, inFlight);

    const left = Math.max(0, inFlight.sizeBits - inFlight.receivedBits);
    futures.read(usable, ageSeconds(state, usable));
    const playable = Math.max(0, state.bufferLevelSeconds - tuning.stallLevelSeconds);
    let late = 0;
    for (let f = 0; f < futures.count; f++) if (futures.transferSeconds(f, 0, left) > playable - 0.2) late++;
    if (late <= tuning.lateShare * futures.count) return 'keep';

    this.prepare(state, usable);
    const waiting = inFlight.firstByteAtSeconds === undefined;
    const kept = this.weigh(state, {
      representation: current,
      bits: left,
      latencySeconds: waiting ? this.latencySeconds : 0,
    });
    const keptStall = this.stallSeconds;
    let best = -1;
    let bestValue = kept + tuning.abandonMargin * this.qualities[state.ladderBps.length - 1]!;
    for (let r = 0; r < current; r++) {
      // Representations may share a bitrate, and one of them is in flight.
      if (state.ladderBps[r]! >= inFlight.bitrateBps) break;
      const value = this.weigh(state, this.freshRequest(state, r));
      if (value > bestValue) {
        bestValue = value;
        best = r;
      }
    }
    if (best < 0) return 'keep';
    return {
      representation: best,
      controller: this.name,
      reason: `abandon: expected QoE ${kept.toFixed(1)} -> ${bestValue.toFixed(1)}, stall ${keptStall.toFixed(2)} s if kept`,
      ...this.basis(state, usable),
    };
  }

  /** What took a forecast at its word may have to be given up all the same. */
  private reconsiderBlindly(state: PlayerState, inFlight: InFlight): Decision | 'keep' {
    const answer = this.fallback.reconsider?.(state, inFlight) ?? 'keep';
    return answer !== 'keep' && state.ladderBps[answer.representation]! < inFlight.bitrateBps ? answer : 'keep';
  }

  /** The forecast to plan on; undefined where MPC-D has to do. */
  private usable(state: PlayerState, forecast: Forecast | undefined): Forecast | undefined {
    const { options } = this;
    if (!options.startup && state.downloads.length < STARTUP_DOWNLOADS) return undefined;
    if (!options.forecast) return harmonicSpread(state);
    if (forecast === undefined || !isWellFormed(forecast)) return undefined;
    const age = ageSeconds(state, forecast);
    return age >= -1 && age < STALE_SECONDS ? forecast : undefined;
  }

  private basis(state: PlayerState, forecast: Forecast): Partial<Decision> {
    const horizonMs = 1000 * state.segmentSeconds * this.horizonOf(state);
    return {
      forecastSource: forecast.source,
      forecastAgeSeconds: ageSeconds(state, forecast),
      handoverInHorizon: forecast.handovers.some(({ atMs }) => {
        const aheadMs = atMs - (state.utcMs ?? Number.NaN);
        return aheadMs >= 0 && aheadMs <= horizonMs;
      }),
    };
  }

  private horizonOf(state: PlayerState): number {
    const held = Math.ceil(state.bufferCapSeconds / state.segmentSeconds) + 2;
    return this.options.horizon ?? Math.min(16, Math.max(5, held));
  }

  private freshRequest(state: PlayerState, representation: number): Request {
    return { representation, bits: firstSizes(state)[representation]!, latencySeconds: this.latencySeconds };
  }

  /** Draws the futures and solves the value function for what follows the segment at hand. */
  private prepare(state: PlayerState, forecast: Forecast): void {
    const { futures, options } = this;
    const { tuning } = options;
    const { ladderBps, weights, segmentSeconds } = state;
    futures.read(forecast, ageSeconds(state, forecast));
    this.latencySeconds = recentLatencySeconds(state);
    if (this.qualities.length !== ladderBps.length) this.qualities = new Float64Array(ladderBps.length);
    for (let r = 0; r < ladderBps.length; r++) this.qualities[r] = weights.quality(ladderBps[r]!);

    const ahead = Math.min(this.horizonOf(state), state.segmentsRemaining) - 1;
    this.stages.length = Math.max(0, ahead);
    for (let k = 1; k <= ahead; k++) {
      const stage = this.stages[k - 1] ?? { transitions: NO_TRANSITIONS, sizesBits: [] };
      this.stages[k - 1] = stage;
      const seconds = k * segmentSeconds;
      stage.transitions = this.transitionsOf(futures.correlationBetween(seconds - segmentSeconds, seconds));
      stage.sizesBits = sizesAt(state, k);
    }
    const steps = futures.readStepEnds(this.stepEndsSeconds);
    this.valueBuffer(state, steps);
    this.value.solve({
      bins: tuning.bins,
      steps,
      stepEndsSeconds: this.stepEndsSeconds,
      capacityBps: futures.marginal,
      bufferLevelSeconds: state.bufferLevelSeconds,
      stages: this.stages,
      bufferValuePerSecond: this.bufferValuePerSecond,
      qualities: this.qualities,
      qualityScale: segmentSeconds / 4,
      mu: this.mu(state),
      lambda: weights.lambda,
      segmentSeconds,
      bufferCapSeconds: state.bufferCapSeconds,
      latencySeconds: this.latencySeconds,
      stallLevelSeconds: tuning.stallLevelSeconds,
      reactionSeconds: options.abandon ? tuning.reactionSegments * segmentSeconds : Number.POSITIVE_INFINITY,
      patienceSeconds: tuning.patienceSegments * segmentSeconds,
    });
  }

  /**
   * What a second of buffer is worth to the segments behind the horizon: the bits that the link delivers in it, as the
   * quality that they buy. A link that outruns the ladder has bits to spare.
   */
  private valueBuffer({ ladderBps, segmentsRemaining }: PlayerState, steps: number): void {
    const { bufferValuePerSecond, futures, options, qualities, stages } = this;
    bufferValuePerSecond.fill(0);
    if (segmentsRemaining <= stages.length + 1) return;
    const { bins, bufferValue } = options.tuning;
    const top = ladderBps.length - 1;
    for (let bin = 0; bin < bins; bin++) {
      const bps = futures.marginal[(steps - 1) * bins + bin]!;
      const at = lastIndexAtMost(ladderBps, bps);
      let quality: number;
      if (at < 0) quality = (qualities[0]! * bps) / ladderBps[0]!;
      else if (at === top) quality = (qualities[top]! * ladderBps[top]!) / bps;
      else {
        const share = (bps - ladderBps[at]!) / (ladderBps[at + 1]! - ladderBps[at]!);
        quality = qualities[at]! + share * (qualities[at + 1]! - qualities[at]!);
      }
      // Per second of media, of which a segment has segmentSeconds and counts segmentSeconds / 4 times.
      bufferValuePerSecond[bin] = (bufferValue * quality) / 4;
    }
  }

  private mu(state: PlayerState): number {
    const { baseAversion, stallAversionSpan } = this.options.tuning;
    return state.weights.mu * (baseAversion + stallAversionSpan * this.options.risk);
  }

  private get tailWeight(): number {
    return Math.min(1, this.options.tuning.tailWeightSpan * this.options.risk);
  }

  private transitionsOf(correlation: number): Float64Array {
    const key = Math.round(correlation * 100);
    let found = this.transitions.get(key);
    if (found === undefined) {
      const { bins, tailShare } = this.options.tuning;
      found = rankTransitions(bins, Math.min(99, key) / 100, { weight: this.tailWeight, tail: tailShare });
      this.transitions.set(key, found);
    }
    return found;
  }

  /** Expected QoE from this segment to the horizon if it is downloaded so; leaves its stall in `stallSeconds`. */
  private weigh(state: PlayerState, request: Request): number {
    const { options, futures, outcomes } = this;
    const { tuning } = options;
    const { representation } = request;
    const playable = state.started ? Math.max(0, state.bufferLevelSeconds - tuning.stallLevelSeconds) : 0;
    const reaction = options.abandon
      ? Math.max(
          tuning.reactionSegments * state.segmentSeconds,
          playable - tuning.patienceSegments * state.segmentSeconds,
        )
      : Number.POSITIVE_INFINITY;
    const sizes = firstSizes(state);
    let stallSum = 0;
    for (let f = 0; f < futures.count; f++) {
      const seconds = request.latencySeconds + futures.transferSeconds(f, request.latencySeconds, request.bits);
      let best = this.landing(state, playable, f, representation, seconds);
      let stall = Math.max(0, seconds - playable);
      if (seconds > reaction && seconds > playable) {
        const sentAt = reaction + this.latencySeconds;
        for (let lower = 0; lower < representation; lower++) {
          const again = sentAt + futures.transferSeconds(f, sentAt, sizes[lower]!);
          if (again >= seconds) continue;
          const other = this.landing(state, playable, f, lower, again);
          if (other > best) {
            best = other;
            stall = Math.max(0, again - playable);
          }
        }
      }
      outcomes[f] = best;
      stallSum += stall;
    }
    this.stallSeconds = stallSum / futures.count;
    return this.meanWithTail();
  }

  /** QoE of a segment that arrives after `seconds` in one future, and of what can be made of it from there. */
  private landing(
    state: PlayerState,
    playable: number,
    future: number,
    representation: number,
    seconds: number,
  ): number {
    const { weights, previousBitrateBps, bufferLevelSeconds, segmentSeconds } = state;
    const quality = this.qualities[representation]!;
    const stall = Math.max(0, seconds - playable);
    const after = bufferLevelSeconds - Math.min(seconds, playable) + segmentSeconds;
    const change = previousBitrateBps === undefined ? 0 : Math.abs(quality - weights.quality(previousBitrateBps));
    return (
      (segmentSeconds / 4) * quality -
      weights.lambda * change -
      this.mu(state) * stall +
      this.value.at(after, this.futures.binAt(future, seconds), representation)
    );
  }

  private meanWithTail(): number {
    const { outcomes, tailWeight } = this;
    const { tailShare } = this.options.tuning;
    let sum = 0;
    for (let i = 0; i < outcomes.length; i++) sum += outcomes[i]!;
    const mean = sum / outcomes.length;
    if (tailWeight <= 0) return mean;
    outcomes.sort();
    const worst = Math.max(1, Math.round(tailShare * outcomes.length));
    let tail = 0;
    for (let i = 0; i < worst; i++) tail += outcomes[i]!;
    return (1 - tailWeight) * mean + (tailWeight * tail) / worst;
  }
}

function ageSeconds(state: PlayerState, forecast: Forecast): number {
  return state.nowSeconds - forecast.issuedAtMs / 1000;
}

function firstSizes(state: PlayerState): readonly number[] {
  return sizesAt(state, 0);
}

/** Sizes of the k-th segment from now: those of the last one known, or nominal ones, where a player shows none. */
function sizesAt({ upcomingSizesBits: rows, ladderBps, segmentSeconds }: PlayerState, k: number): readonly number[] {
  const row = rows[Math.min(k, rows.length - 1)];
  return row?.length === ladderBps.length ? row : ladderBps.map((bps) => bps * segmentSeconds);
}

/** Whether a forecast can be planned on at all; the chain of forecasters says what is wrong with one that cannot. */
function isWellFormed(forecast: Forecast): boolean {
  if (!Number.isFinite(forecast.issuedAtMs) || !Array.isArray(forecast.handovers)) return false;
  if (forecast.kind === 'paths') return forecast.paths.length > 0 && forecast.paths.every(isWellFormedPath);
  const { levels, quantilesBps, stepEndsSeconds } = forecast;
  if (levels.length === 0 || stepEndsSeconds.length === 0 || quantilesBps.length !== stepEndsSeconds.length)
    return false;
  if (!(forecast.rankCorrelation >= 0 && forecast.rankCorrelation <= 1)) return false;
  let before = 0;
  for (const end of stepEndsSeconds) {
    if (!(end > before)) return false;
    before = end;
  }
  before = 0;
  for (const level of levels) {
    if (!(level > before && level < 1)) return false;
    before = level;
  }
  return quantilesBps.every(
    (row) => row.length === levels.length && row.every((bps) => bps >= 0 && bps < Number.POSITIVE_INFINITY),
  );
}

/** Bits up to two moments of a path tell one that is made of NaN, or runs backwards, without a look at all of it. */
function isWellFormedPath({ weight, path }: PathForecast['paths'][number]): boolean {
  const soon = path.cumulativeBits(PATH_CHECK_SECONDS);
  const later = path.cumulativeBits(2 * PATH_CHECK_SECONDS);
  return (
    weight > 0 && weight < Number.POSITIVE_INFINITY && soon >= 0 && later >= soon && later < Number.POSITIVE_INFINITY
  );
}

/** Median latency of the last requests. */
function recentLatencySeconds(state: PlayerState): number {
  const latencies: number[] = [];
  const oldest = Math.max(0, state.downloads.length - RECENT_DOWNLOADS);
  for (let i = state.downloads.length - 1; i >= oldest && latencies.length < 5; i--) {
    const latency = state.downloads[i]!.latencySeconds;
    if (latency !== undefined && latency >= 0) latencies.push(latency);
  }
  if (latencies.length === 0) return DEFAULT_LATENCY_SECONDS;
  latencies.sort((a, b) => a - b);
  return latencies[latencies.length >> 1]!;
}

/** The lowest bitrate that was abandoned for this segment or the one before it; `Infinity` where none was. */
function abandonedBefore(state: PlayerState): number {
  let ceilingBps = Number.POSITIVE_INFINITY;
  for (let i = state.downloads.length - 1; i >= 0; i--) {
    const { segmentIndex, abandoned, bitrateBps } = state.downloads[i]!;
    // After a seek the segments before this one may be any.
    if (segmentIndex !== state.segmentIndex && segmentIndex !== state.segmentIndex - 1) break;
    if (abandoned) ceilingBps = Math.min(ceilingBps, bitrateBps);
  }
  return ceilingBps;
}

function exceedsWaste(inFlight: InFlight, maxWastedShare: number): boolean {
  if (maxWastedShare >= 1) return false;
  const wasted = (inFlight.sessionWastedBits ?? 0) + inFlight.receivedBits;
  return wasted > maxWastedShare * (inFlight.sessionRequestedBits ?? inFlight.sizeBits);
}

function lastIndexAtMost(ladderBps: readonly number[], bitrateBps: number): number {
  let index = ladderBps.length - 1;
  while (index >= 0 && ladderBps[index]! > bitrateBps) index--;
  return index;
}

/** A forecast from MPC-D's evidence alone: the harmonic mean, spread by the largest of its last errors. */
function harmonicSpread(state: PlayerState): QuantileForecast | undefined {
  const estimate = robustThroughput(state.downloads);
  if (estimate === undefined) return undefined;
  const { meanBps, maxError } = estimate;
  return {
    issuedAtMs: state.nowSeconds * 1000,
    source: 'harmonic mean',
    stepEndsSeconds: [4, 8, 16],
    levels: [0.1, 0.5, 0.9],
    quantilesBps: [1, 2, 3].map(() => [meanBps / (1 + maxError), meanBps, meanBps * (1 + maxError)]),
    rankCorrelation: 0.7,
    handovers: [],
  };
}
