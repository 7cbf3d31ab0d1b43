/**
 * The service's forecast: the plugin's forecasters (a model, if there is one, then the built-in one), told what all
 * players report (or what the dish's busy seconds show), with latency from the dish's pings, on the wire in UTC.
 */

import type { ExpectedHandover, Forecaster, Observation, QuantileForecast } from '../../abr/forecast.ts';
import { createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import { ForecastChain, type ForecasterFault } from '../../predictor/chain.ts';
import type { HandoverClock, HandoverEstimate } from '../../predictor/handover-clock/handover-clock.ts';
import type { Leap, SessionClock } from '../session-clock.ts';
import { LatencyForecaster } from './latency-forecaster.ts';

/** The service's machine is taken to be on time to so much (NTP over the link that it watches). */
const UTC_UNCERTAINTY_SECONDS = 0.5;
/** Nothing was seen of the link for so long: a forecast would be of another time. */
const STALE_SECONDS = 60;
/** Reports come in so late at most. */
const LATEST_REPORT_SECONDS = 2;
/** Observations may overlap by this much, because timers round. */
const SLACK_SECONDS = 0.05;
/** A model that has had nothing new for so long is passed over. */
const STALE_MODEL_SECONDS = 2;

/** A forecaster of capacity that may be told where handovers are. */
export interface CapacityForecaster extends Forecaster {
  readonly handoverClock?: HandoverClock | undefined;
  /** Begins to make a forecast of this moment, where that does not happen at once when it is asked for. */
  prepare?(nowSeconds: number): void;
}

export interface LinkForecasterOptions {
  /** Asked before the built-in one, the most trusted first. Default: none. */
  forecasters?: readonly CapacityForecaster[] | undefined;
  /** Told once per forecaster what is wrong with it. Default: nobody. */
  onFault?: (fault: ForecasterFault) => void;
  /** Told when it forecasts again. Default: nobody. */
  onRecovery?: () => void;
}

/** A hint at where handovers are, from the dish or the sky; see `HandoverClock.hint`. */
export interface HandoverHint {
  atMs: number;
  uncertaintySeconds: number;
  confidence: number;
}

export class LinkForecaster {
  readonly #clock: SessionClock;
  readonly #builtIn = createBuiltInForecaster();
  readonly #all: readonly CapacityForecaster[];
  readonly #capacity: ForecastChain;
  readonly #latency = new LatencyForecaster();
  #lastSeenSeconds = Number.NEGATIVE_INFINITY;
  /** Of the last call of `prepare`, and what models have ready since then. */
  #preparingSeconds = Number.NEGATIVE_INFINITY;
  #preparedSeconds = Number.NEGATIVE_INFINITY;
  #askedSeconds = 0;
  /** Seconds of throughput told so far. */
  observedSeconds = 0;
  /** Whose the newest forecast was: `built-in`, `model:<name>`; undefined before there was one. */
  source: string | undefined;

  constructor(clock: SessionClock, { forecasters = [], onFault = () => {}, onRecovery }: LinkForecasterOptions = {}) {
    this.#clock = clock;
    this.#all = [...forecasters, this.#builtIn];
    this.#capacity = new ForecastChain(this.#all, { onFault, onRecovery, staleSeconds: STALE_MODEL_SECONDS });
    this.#capacity.start({
      utcMsAtStart: clock.utcMsAtStart,
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: 1,
    });
  }

  /** Up to when the link is known to what `latest` gives; -Infinity before anything was seen. */
  get preparedSeconds(): number {
    return this.#hasModels ? this.#preparedSeconds : this.#lastSeenSeconds;
  }

  get #hasModels(): boolean {
    return this.#all.some(({ prepare }) => prepare !== undefined);
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') {
      this.#capacity.observe(observation);
      return;
    }
    // The dish's usage and what players report of the same second would count twice: the first that comes counts.
    if (observation.startSeconds < this.#lastSeenSeconds - SLACK_SECONDS) return;
    this.#capacity.observe(observation);
    this.#lastSeenSeconds = observation.endSeconds;
    this.observedSeconds += observation.endSeconds - observation.startSeconds;
  }

  /**
   * A ping of the dish. The handover clock is not told: the dish averages its pings, so that their steps come up to 2 s
   * after the handovers that the pings of others show (docs/service.md).
   */
  observePing(atSeconds: number, latencyMs: number): void {
    this.#latency.observe(atSeconds, latencyMs);
  }

  hint({ atMs, uncertaintySeconds, confidence }: HandoverHint): void {
    const atSeconds = this.#clock.secondsAt(atMs);
    for (const { handoverClock } of this.#all) handoverClock?.hint(atSeconds, uncertaintySeconds, confidence);
  }

  /** UTC has leapt; what was learnt stays true on the session's clock. */
  onLeap(_leap: Leap): void {
    const nowSeconds = this.#clock.nowSeconds();
    this.#capacity.tellTime(nowSeconds, this.#clock.utcMsAt(nowSeconds), UTC_UNCERTAINTY_SECONDS);
  }

  /** Where handovers are, on the session's clock. */
  handoverEstimate(): HandoverEstimate | undefined {
    return this.#builtIn.handoverClock?.estimate(this.#clock.nowSeconds());
  }

  /** The next handovers in UTC; none where the link is not known to be LEO. */
  nextHandovers(): ExpectedHandover[] {
    return (this.handoverEstimate()?.nextHandovers ?? []).map(({ atSeconds, confidence }) => ({
      atMs: Math.round(this.#clock.utcMsAt(atSeconds)),
      confidence: rounded(confidence),
    }));
  }

  latency(): QuantileForecast['latency'] {
    return this.#latency.latest(this.#clock.nowSeconds());
  }

  /** To be called often: models need a moment, and `latest` is to find something fresh. */
  prepare(): void {
    const nowSeconds = this.#clock.nowSeconds();
    this.#preparedSeconds = this.#preparingSeconds;
    this.#preparingSeconds = this.#lastSeenSeconds;
    if (this.observedSeconds === 0 || nowSeconds - this.#lastSeenSeconds > STALE_SECONDS) return;
    for (const forecaster of this.#all) forecaster.prepare?.(this.#knownUntil(nowSeconds));
  }

  /** In UTC, as the API gives it; where there is none, why. */
  latest(): QuantileForecast | { because: string } {
    const nowSeconds = this.#clock.nowSeconds();
    if (this.observedSeconds === 0) return { because: 'nothing was reported of the capacity yet' };
    if (nowSeconds - this.#lastSeenSeconds > STALE_SECONDS) {
      return { because: `nothing was reported of the capacity for ${STALE_SECONDS} s` };
    }
    const forecast = this.#capacity.latest(this.#knownUntil(nowSeconds));
    if (forecast === undefined || forecast.kind === 'paths') return { because: 'no bit has come through yet' };
    this.source = forecast.source;
    const latency = this.latency();
    return {
      ...forecast,
      issuedAtMs: Math.round(this.#clock.utcMsAt(forecast.issuedAtMs / 1000)),
      source: 'service',
      quantilesBps: forecast.quantilesBps.map((row) => row.map(rounded)),
      handovers: this.nextHandovers(),
      ...(latency !== undefined && { latency }),
    };
  }

  /**
   * Reports are a second late. What is not known of that second is not a pause of the link's: the forecast is of the
   * moment up to which it is known, and whoever reads it knows its age.
   */
  #knownUntil(nowSeconds: number): number {
    const isLate = nowSeconds - this.#lastSeenSeconds < LATEST_REPORT_SECONDS;
    this.#askedSeconds = Math.max(this.#askedSeconds, isLate ? this.#lastSeenSeconds : nowSeconds);
    return this.#askedSeconds;
  }
}

/** To four digits: more is noise, and bytes to every subscriber each second. Order is kept. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
