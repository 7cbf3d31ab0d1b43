/**
 * The forecast port: what a forecaster publishes and a controller plans on. A forecast is a distribution, because a
 * point forecast put straight into MPC is worse than RobustMPC's discounted mean (docs/decisions/).
 */

import type { CapacityPath } from './capacity-path.ts';

/** A handover that somebody expects. */
export interface ExpectedHandover {
  /** UTC of the forecaster's time source, in ms. */
  atMs: number;
  /** 0 to 1. */
  confidence: number;
}

/** Quantiles of a quantity per step of time; the wire form of a forecast. */
export interface QuantileForecast {
  kind?: 'quantiles';
  /** When it was made: the clock of the session (`nowSeconds * 1000`) inside a page, UTC ms on the wire. */
  issuedAtMs: number;
  /** Who made it, for logs and the demo: `built-in`, `model:<name>`, `service`, `oracle` ... */
  source: string;
  /** Ends of the steps in seconds after `issuedAtMs`, ascending, > 0. */
  stepEndsSeconds: readonly number[];
  /** Quantile levels, ascending, in (0, 1). */
  levels: readonly number[];
  /** `quantilesBps[step][level]`: mean capacity within the step in bit/s, non-decreasing in level. */
  quantilesBps: readonly (readonly number[])[];
  /** Correlation of ranks from one step to the next, 0 to 1. */
  rankCorrelation: number;
  handovers: readonly ExpectedHandover[];
  /** The same form in milliseconds, where latency is forecast too. */
  latency?: {
    stepEndsSeconds: readonly number[];
    levels: readonly number[];
    quantilesMs: readonly (readonly number[])[];
  };
}

/** Weighted futures given directly, as an oracle or a forecaster by analogues can. */
export interface PathForecast {
  kind: 'paths';
  issuedAtMs: number;
  source: string;
  /** Weights are > 0 and sum to 1; second 0 of each path is `issuedAtMs`. */
  paths: readonly { weight: number; path: CapacityPath }[];
  handovers: readonly ExpectedHandover[];
}

export type Forecast = QuantileForecast | PathForecast;

/**
 * A request that has waited longer than this for its first byte waits for a dead link, not for a round trip: from then
 * on its silence is told as throughput of 0 bits.
 */
export const SILENCE_SECONDS = 0.3;

/** What a forecaster is told of the session, in order of time; all times are seconds of the session's clock. */
export type Observation =
  /**
   * `bits` arrived from `startSeconds` to `endSeconds` while a download was under way and its first byte was here, or
   * overdue by `SILENCE_SECONDS`.
   */
  | { kind: 'throughput'; startSeconds: number; endSeconds: number; bits: number }
  /** Nothing was asked for, so capacity is unknown. */
  | { kind: 'idle'; startSeconds: number; endSeconds: number }
  /** From sending a request to its first byte. */
  | { kind: 'request-latency'; atSeconds: number; latencySeconds: number };

/** What a session looks like at its start, for forecasters whose features need it. */
export interface SessionContext {
  /** UTC in ms of the time source at session second 0, with its uncertainty. Unknown: undefined. */
  utcMsAtStart?: number;
  utcUncertaintySeconds?: number;
  /** Seed of everything random. */
  seed: number;
}

/** A source of forecasts. Publishing is asynchronous: `latest` reads the newest and never waits. */
export interface Forecaster {
  readonly name: string;
  /** Forgets the last session and begins another. */
  start(context: SessionContext): void;
  observe(observation: Observation): void;
  /**
   * At session second `atSeconds` it was `utcMs`, give or take `uncertaintySeconds`: the time source has turned out better,
   * or one of the clocks has leapt. Replaces what `start` said.
   */
  tellTime?(atSeconds: number, utcMs: number, uncertaintySeconds: number): void;
  /** The newest forecast, or undefined where there is none. */
  latest(nowSeconds: number): Forecast | undefined;
}
