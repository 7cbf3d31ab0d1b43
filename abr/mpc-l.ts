/**
 * MPC-L: model-predictive control over a distribution of futures, with recourse.
 *
 * The segment to decide on is tried in every future of the forecast, exactly; what comes after it is valued by a
 * stochastic dynamic programme in which later decisions depend on the capacity seen until then (`mpc-l/value-function`).
 * A running download may be abandoned, now (`reconsider`) and in the plan.
 */

import type { CandidateOutlook, Controller, Decision, InFlight, PlayerState } from './controller.ts';
import type { Forecast, QuantileForecast } from './forecast.ts';
import { Futures } from './mpc-l/futures.ts';
import { binScores, rankTransitions } from './mpc-l/rank-chain.ts';
import { ValueFunction, type ValueStage } from './mpc-l/value-function.ts';

export interface MpcLOptions {
  /** Segments planned ahead, the next one included. */
  horizon: number;
  futures: number;
  bins: number;
  /** 0 = mean only, 1 = worst futures only. */
  risk: number;
  /** Share of futures that counts as worst. */
  riskTail: number;
  /** Multiplies mu in the plan. */
  stallAversion: number;
  reactionSeconds: number;
  /** Level at which the media element stalls. */
  stallLevelSeconds: number;
  abandon: boolean;
  /** Gain in QoE units below which a running download is kept. */
  abandonMargin: number;
  maxAbandonments: number;
  correlationPower: number;
  seed: number;
}

export const MPC_L_DEFAULTS: MpcLOptions = {
  horizon: 6,
  futures: 24,
  bins: 8,
  risk: 0.1,
  riskTail: 0.2,
  stallAversion: 1,
  reactionSeconds: 0.8,
  stallLevelSeconds: 0.12,
  abandon: true,
  abandonMargin: 0.05,
  maxAbandonments: 2,
  correlationPower: 1,
  seed: 1,
};

export function createMpcL(options: Partial<MpcLOptions> = {}, fallback?: Controller): Controller {
  return new MpcL({ ...MPC_L_DEFAULTS, ...options }, fallback);
}

class MpcL implements Controller {
  readonly name = 'mpc-l';
  private readonly futures: Futures;
  private readonly value = new ValueFunction();
  private readonly scores: Float64Array;
  private readonly transitions = new Map<string, Float64Array>();
  private readonly outcomes: Float64Array;
  private qualities = new Float64Array(0);

  constructor(
    private readonly options: MpcLOptions,
    private readonly fallback: Controller | undefined,
  ) {
    this.futures = new Futures({ count: options.futures, bins: options.bins, maxSteps: 16, seed: options.seed });
    this.scores = binScores(options.bins);
    this.outcomes = new Float64Array(options.futures);
  }

  decide(state: PlayerState, forecast?: Forecast): Decision {
    if (forecast === undefined || forecast.kind === 'paths') {
      if (this.fallback && state.downloads.length > 0) return this.fallback.decide(state, forecast);
      return { representation: 0, controller: this.name, reason: 'no forecast yet' };
    }
    this.prepare(state, forecast);
    const { ladderBps } = state;
    const candidates: CandidateOutlook[] = [];
    let best = 0;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (let r = 0; r < ladderBps.length; r++) {
      const outlook = this.outlook(state, { representation: r, bits: state.upcomingSizesBits[0]![r]!, latency: this.latency, previousBps: state.previousBitrateBps, delay: 0 });
      candidates.push({ bitrateBps: ladderBps[r]!, ...outlook });
      if (outlook.expectedQoe > bestValue) {
        bestValue = outlook.expectedQoe;
        best = r;
      }
    }
    return {
      representation: best,
      controller: this.name,
      reason: `expected QoE ${bestValue.toFixed(2)}`,
      forecastSource: forecast.source,
      forecastAgeSeconds: state.nowSeconds - forecast.issuedAtMs / 1000,
      candidates,
    };
  }

  reconsider(state: PlayerState, inFlight: InFlight, forecast?: Forecast): Decision | 'keep' {
    const { options } = this;
    if (!options.abandon || forecast === undefined || forecast.kind === 'paths') return 'keep';
    if (inFlight.abandonments >= options.maxAbandonments) return 'keep';
    const current = state.ladderBps.indexOf(inFlight.bitrateBps);
    if (current <= 0) return 'keep';
    const elapsed = state.nowSeconds - inFlight.requestedAtSeconds;
    if (elapsed < 0.3) return 'keep';
    const left = inFlight.sizeBits - inFlight.receivedBits;
    // Cheap way out: nearly every future finishes in time.
    const age = Math.max(0, state.nowSeconds - forecast.issuedAtMs / 1000);
    this.futures.read(forecast as QuantileForecast, age);
    let late = 0;
    for (let f = 0; f < options.futures; f++) {
      if (this.futures.transferSeconds(f, 0, left) > state.bufferLevelSeconds - 0.3) late++;
    }
    if (state.started && late <= options.futures * 0.1) return 'keep';
    this.prepare(state, forecast as QuantileForecast);
    const waiting = inFlight.firstByteAtSeconds === undefined ? this.latency : 0;
    const keep = this.outlook(state, { representation: current, bits: left, latency: Math.max(0, waiting), previousBps: state.previousBitrateBps, delay: 0 });
    let best = -1;
    let bestValue = keep.expectedQoe + options.abandonMargin * state.weights.quality(state.ladderBps[state.ladderBps.length - 1]!);
    for (let r = 0; r < current; r++) {
      const outlook = this.outlook(state, { representation: r, bits: state.upcomingSizesBits[0]![r]!, latency: this.latency, previousBps: state.previousBitrateBps, delay: 0 });
      if (outlook.expectedQoe > bestValue) {
        bestValue = outlook.expectedQoe;
        best = r;
      }
    }
    if (best < 0) return 'keep';
    return {
      representation: best,
      controller: this.name,
      reason: `abandon: ${keep.expectedQoe.toFixed(2)} -> ${bestValue.toFixed(2)}`,
      forecastSource: forecast.source,
    };
  }

  private latency = 0.05;

  private prepare(state: PlayerState, forecast: QuantileForecast): void {
    const { options, futures } = this;
    const age = Math.max(0, state.nowSeconds - forecast.issuedAtMs / 1000);
    futures.read(forecast, age);
    this.latency = recentLatency(state);
    const { ladderBps, weights, segmentSeconds } = state;
    if (this.qualities.length !== ladderBps.length) this.qualities = new Float64Array(ladderBps.length);
    for (let r = 0; r < ladderBps.length; r++) this.qualities[r] = weights.quality(ladderBps[r]!);
    const ahead = Math.min(options.horizon, state.segmentsRemaining) - 1;
    const stages: ValueStage[] = [];
    const rows = state.upcomingSizesBits;
    for (let k = 1; k <= ahead; k++) {
      const seconds = k * segmentSeconds;
      const capacityBps = new Float64Array(options.bins);
      futures.marginalRates(seconds + segmentSeconds / 4, this.scores, capacityBps);
      const steps = futures.stepsBetween(seconds - segmentSeconds, seconds);
      stages.push({
        capacityBps,
        transitions: this.transitionsFor(forecast.rankCorrelation ** (options.correlationPower * steps)),
        sizesBits: rows[Math.min(k, rows.length - 1)]!,
      });
    }
    this.value.solve({
      stages,
      qualities: this.qualities,
      qualityScale: segmentSeconds / 4,
      mu: weights.mu * options.stallAversion,
      lambda: weights.lambda,
      segmentSeconds,
      bufferCapSeconds: state.bufferCapSeconds,
      latencySeconds: this.latency,
      stallLevelSeconds: options.stallLevelSeconds,
      reactionSeconds: options.abandon ? options.reactionSeconds : Number.POSITIVE_INFINITY,
    });
  }

  private transitionsFor(correlation: number): Float64Array {
    const key = correlation.toFixed(3);
    let found = this.transitions.get(key);
    if (found === undefined) {
      const { risk, riskTail, bins } = this.options;
      found = rankTransitions(bins, Math.min(0.99, correlation), { weight: risk, tail: riskTail });
      this.transitions.set(key, found);
    }
    return found;
  }

  /** Value of downloading `bits` of a representation now, over the futures. */
  private outlook(
    state: PlayerState,
    request: { representation: number; bits: number; latency: number; previousBps: number | undefined; delay: number },
  ): { expectedQoe: number; expectedStallSeconds: number } {
    const { options, futures, outcomes } = this;
    const { weights, segmentSeconds } = state;
    const mu = weights.mu * options.stallAversion;
    const scale = segmentSeconds / 4;
    const level = state.bufferLevelSeconds;
    const playable = state.started ? Math.max(0, level - options.stallLevelSeconds) : 0;
    const { representation } = request;
    const sizes = state.upcomingSizesBits[0]!;
    let stallSum = 0;
    for (let f = 0; f < futures.count; f++) {
      const seconds = request.latency + futures.transferSeconds(f, request.latency, request.bits);
      let best = this.landed(state, { representation, seconds, level, playable, mu, future: f, scale });
      let stall = Math.max(0, seconds - playable);
      if (options.abandon && seconds > playable && seconds > options.reactionSeconds) {
        for (let lower = 0; lower < representation; lower++) {
          const sentAt = options.reactionSeconds;
          const again = sentAt + this.latency + futures.transferSeconds(f, sentAt + this.latency, sizes[lower]!);
          if (again >= seconds) continue;
          const other = this.landed(state, { representation: lower, seconds: again, level, playable, mu, future: f, scale });
          if (other > best) {
            best = other;
            stall = Math.max(0, again - playable);
          }
        }
      }
      outcomes[f] = best;
      stallSum += stall;
    }
    return { expectedQoe: this.tailMean(outcomes), expectedStallSeconds: stallSum / futures.count };
  }

  private landed(
    state: PlayerState,
    at: { representation: number; seconds: number; level: number; playable: number; mu: number; future: number; scale: number },
  ): number {
    const { weights } = state;
    const quality = this.qualities[at.representation]!;
    const stall = Math.max(0, at.seconds - at.playable);
    const after = Math.max(at.level - at.seconds, at.level - at.playable) + state.segmentSeconds;
    const change =
      state.previousBitrateBps === undefined ? 0 : Math.abs(quality - weights.quality(state.previousBitrateBps));
    return (
      at.scale * quality -
      weights.lambda * change -
      at.mu * stall +
      this.value.at(after, this.futures.binAt(at.future, at.seconds), at.representation)
    );
  }

  private tailMean(outcomes: Float64Array): number {
    const { risk, riskTail } = this.options;
    let mean = 0;
    for (let i = 0; i < outcomes.length; i++) mean += outcomes[i]!;
    mean /= outcomes.length;
    if (risk <= 0) return mean;
    outcomes.sort();
    const worst = Math.max(1, Math.round(riskTail * outcomes.length));
    let tail = 0;
    for (let i = 0; i < worst; i++) tail += outcomes[i]!;
    return (1 - risk) * mean + (risk * tail) / worst;
  }
}

/** Median request latency of the last downloads; 0.05 s before any is known. */
function recentLatency(state: PlayerState): number {
  const latencies: number[] = [];
  for (let i = state.downloads.length - 1; i >= 0 && latencies.length < 5; i--) {
    const latency = state.downloads[i]!.latencySeconds;
    if (latency !== undefined) latencies.push(latency);
  }
  if (latencies.length === 0) return 0.05;
  latencies.sort((a, b) => a - b);
  return latencies[latencies.length >> 1]!;
}
