/**
 * What forecasters publish and controllers plan on. A forecast is a distribution, because MPC on a point forecast is
 * worse than RobustMPC with its discounted mean (docs/decisions/).
 */

import type { CapacityPath } from './mpc/capacity-path.ts';

/** Length of Starlink's epochs. A handover is possible between two epochs. */
export const EPOCH_SECONDS = 15;
/** An epoch begins at this second of the minute (UTC). */
export const HANDOVER_SECOND = 12;
/** Assumed error of a viewer's clock. A clock synchronised by NTP is much better. */
export const DEVICE_CLOCK_UNCERTAINTY_SECONDS = 2;

export interface ExpectedHandover {
  /** UTC of the forecaster's time source, in ms. */
  atMs: number;
  /** Probability of the handover, 0 to 1. */
  confidence: number;
  /** The loss of capacity at the handover; absent if unknown. */
  dip?: HandoverDip;
}

/** The short loss of capacity at a handover, and what may follow. */
export interface HandoverDip {
  /** Standard deviation of the dip's begin about `atMs`. */
  timingSeconds: number;
  /** Share of the capacity that is lost, 0 to 1. */
  depth: number;
  /** Quantiles of the dip's duration: levels ascending in (0, 1), seconds non-decreasing. */
  levels: readonly number[];
  seconds: readonly number[];
  /** After the dip, with this probability (0 to 1), the share `depth` of the capacity is lost for `seconds` more. */
  collapse: { probability: number; depth: number; seconds: number };
}

/** How capacity varies within a step: ratios of the capacity in 0.1 s to the step's capacity. */
export interface Fluctuation {
  /** Quantile levels, ascending in (0, 1), and the ratio at each level, >= 0, non-decreasing. */
  levels: readonly number[];
  ratios: readonly number[];
  /** Correlation of ranks from one 0.1 s to the next, 0 to below 1. */
  correlation: number;
}

/** Quantiles of capacity per step of time; also the wire form of a forecast. */
export interface QuantileForecast {
  kind?: 'quantiles';
  /** Time of issue: on the session's clock (`nowSeconds * 1000`) inside a page, UTC ms on the wire. */
  issuedAtMs: number;
  /** Name of the forecaster for logs and the demo: `built-in`, `model:<name>`, `service`, `oracle` ... */
  source: string;
  /** Ends of the steps in seconds after `issuedAtMs`, ascending, > 0. */
  stepEndsSeconds: readonly number[];
  /** Quantile levels, ascending in (0, 1). */
  levels: readonly number[];
  /** `quantilesBps[step][level]`: mean capacity within the step in bit/s, non-decreasing in the level. */
  quantilesBps: readonly (readonly number[])[];
  /** Correlation of the rank of capacity from one step to the next, 0 to 1. */
  rankCorrelation: number;
  handovers: readonly ExpectedHandover[];
  /** Absent if unknown. */
  fluctuation?: Fluctuation;
}

/** The known future, for MPC-O and a page's controllers. MPC-L plans on quantiles alone. */
export interface PathForecast {
  kind: 'path';
  issuedAtMs: number;
  source: string;
  /** Second 0 of the path is `issuedAtMs`. */
  path: CapacityPath;
  handovers: readonly ExpectedHandover[];
}

export type Forecast = QuantileForecast | PathForecast;

declare const VALID: unique symbol;
/** A forecast of the right form: by construction, or by `validForecast`. Controllers take no other. */
export type ValidForecast<F extends Forecast = Forecast> = F & { readonly [VALID]: true };

/** Seconds from the issue of a forecast to `nowSeconds` of the same clock. */
export function ageSecondsOf({ issuedAtMs }: Pick<Forecast, 'issuedAtMs'>, nowSeconds: number): number {
  return nowSeconds - issuedAtMs / 1000;
}

/** If a request waits longer than this for its first byte, its silence counts as throughput of 0 bits: the link is dead. */
export const SILENCE_SECONDS = 0.3;

/** An observation of the session, in order of time. All times are seconds of the session's clock. */
export type Observation =
  /** `bits` arrived from `startSeconds` to `endSeconds`, after the first byte of a download or after `SILENCE_SECONDS`. */
  | { kind: 'throughput'; startSeconds: number; endSeconds: number; bits: number }
  /** No request was running, so capacity is unknown. */
  | { kind: 'idle'; startSeconds: number; endSeconds: number }
  /** From a request to its first byte. */
  | { kind: 'request-latency'; atSeconds: number; latencySeconds: number };

/** A session at its start. */
export interface SessionContext {
  /** UTC in ms of the time source at session second 0, and its uncertainty; undefined if unknown. */
  utcMsAtStart?: number;
  utcUncertaintySeconds?: number;
  /** What the page loaded over the same link just before the session, or what the link of a new server carries in 1 s. */
  pageLoad?: { bits: number; seconds: number } | undefined;
  /** Seed of everything random. */
  seed: number;
}

/** A source of forecasts. `latest` never waits for a new forecast. */
export interface Forecaster {
  readonly name: string;
  /** Its forecasts always have the right form. Default false: each is checked, and a wrong one is a fault. */
  readonly isChecked?: boolean;
  /** Begins a session, or goes on with a server on another link, and forgets what was before. */
  start(context: SessionContext): void;
  observe(observation: Observation): void;
  /**
   * UTC was `utcMs` at session second `atSeconds`. Called when the time source has improved or a clock has leapt;
   * replaces the time that `start` got.
   */
  tellTime?(atSeconds: number, utcMs: number, uncertaintySeconds: number): void;
  /** The newest forecast; undefined if the forecaster has none. */
  latest(nowSeconds: number): Forecast | undefined;
}
