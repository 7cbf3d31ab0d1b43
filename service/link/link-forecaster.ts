/**
 * The service's forecast: the built-in forecaster of the plugin, told what all players report (or what the dish's busy
 * seconds show), with latency from the dish's pings, on the wire in UTC.
 */

import type { ExpectedHandover, Observation, QuantileForecast } from '../../abr/forecast.ts';
import { type BuiltInForecaster, createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import type { HandoverEstimate } from '../../predictor/handover-clock/handover-clock.ts';
import type { Leap, SessionClock } from '../session-clock.ts';
import { LatencyForecaster } from './latency-forecaster.ts';

/** The service's machine is taken to be on time to so much (NTP over the link that it watches). */
const UTC_UNCERTAINTY_SECONDS = 0.5;
/** Nothing was seen of the link for so long: a forecast would be of another time. */
const STALE_SECONDS = 60;

/** Reports come in so late at most. */
const LATEST_REPORT_SECONDS = 2;

/** A hint at where handovers are, from the dish or the sky; see `HandoverClock.hint`. */
export interface HandoverHint {
  atMs: number;
  uncertaintySeconds: number;
  confidence: number;
}

export class LinkForecaster {
  readonly #clock: SessionClock;
  readonly #capacity: BuiltInForecaster = createBuiltInForecaster();
  readonly #latency = new LatencyForecaster();
  #lastSeenSeconds = Number.NEGATIVE_INFINITY;
  #askedSeconds = 0;
  /** Seconds of throughput told so far. */
  observedSeconds = 0;

  constructor(clock: SessionClock) {
    this.#clock = clock;
    this.#capacity.start({
      utcMsAtStart: clock.utcMsAtStart,
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: 1,
    });
  }

  observe(observation: Observation): void {
    this.#capacity.observe(observation);
    if (observation.kind !== 'throughput') return;
    this.#lastSeenSeconds = observation.endSeconds;
    this.observedSeconds += observation.endSeconds - observation.startSeconds;
  }

  /**
   * A ping of the dish. The handover clock is not told: the dish averages its pings, so that their steps come up to 2 s
   * after the handovers that the pings of others show (scripts/check-serving-satellite.js).
   */
  observePing(atSeconds: number, latencyMs: number): void {
    this.#latency.observe(atSeconds, latencyMs);
  }

  hint({ atMs, uncertaintySeconds, confidence }: HandoverHint): void {
    this.#capacity.handoverClock?.hint(this.#clock.secondsAt(atMs), uncertaintySeconds, confidence);
  }

  /** UTC has leapt; what was learnt stays true on the session's clock. */
  onLeap(_leap: Leap): void {
    const nowSeconds = this.#clock.nowSeconds();
    this.#capacity.tellTime?.(nowSeconds, this.#clock.utcMsAt(nowSeconds), UTC_UNCERTAINTY_SECONDS);
  }

  /** Where handovers are, on the session's clock. */
  handoverEstimate(): HandoverEstimate | undefined {
    return this.#capacity.handoverClock?.estimate(this.#clock.nowSeconds());
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

  /** In UTC, as the API gives it; where there is none, why. */
  latest(): QuantileForecast | { because: string } {
    const nowSeconds = this.#clock.nowSeconds();
    if (this.observedSeconds === 0) return { because: 'nothing was reported of the capacity yet' };
    if (nowSeconds - this.#lastSeenSeconds > STALE_SECONDS) {
      return { because: `nothing was reported of the capacity for ${STALE_SECONDS} s` };
    }
    // Reports are a second late. What is not known of that second is not a pause of the link's: the forecast is of the
    // moment up to which it is known, and whoever reads it knows its age.
    const isLate = nowSeconds - this.#lastSeenSeconds < LATEST_REPORT_SECONDS;
    this.#askedSeconds = Math.max(this.#askedSeconds, isLate ? this.#lastSeenSeconds : nowSeconds);
    const forecast = this.#capacity.latest(this.#askedSeconds);
    if (forecast === undefined || forecast.kind === 'paths') return { because: 'no bit has come through yet' };
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
}

/** To four digits: more is noise, and bytes to every subscriber each second. Order is kept. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
