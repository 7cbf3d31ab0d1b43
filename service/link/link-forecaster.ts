/** Feeds the plugin's forecaster with the reports of all players, or the dish's busy seconds. Forecasts are in UTC. */

import type { ExpectedHandover, Observation, QuantileForecast } from '../../abr/forecast.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import type { Model, QuantileForecaster } from '../../predictor/forecast/quantile-forecaster.ts';
import type { HandoverEstimate } from '../../predictor/link/handover-clock/handover-clock.ts';
import { hintHandover } from '../../predictor/link/handover-clock/hint.ts';
import type { SessionClock } from '../clock.ts';

/** Assumed error of the machine's clock, which NTP sets over the observed link. */
const UTC_UNCERTAINTY_SECONDS = 0.5;
/** If the link was not observed for this long, the service has no forecast. */
const STALE_SECONDS = 60;
const LATEST_REPORT_SECONDS = 2;
/** Observations may overlap by this much, because timers round. */
const SLACK_SECONDS = 0.05;

export class LinkForecaster {
  readonly #capacity: QuantileForecaster;
  #observedUntilSeconds = Number.NEGATIVE_INFINITY;
  #issuedSeconds = 0;
  observedSeconds = 0;

  constructor(
    private readonly clock: SessionClock,
    model?: Model,
  ) {
    this.#capacity = createBuiltInForecaster({ model });
    this.#capacity.start({
      utcMsAtStart: clock.utcMsAt(0),
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: 1,
    });
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') {
      this.#capacity.observe(observation);
      return;
    }
    // The dish's usage and the players' reports may cover the same time: the first observation counts.
    if (observation.startSeconds < this.#observedUntilSeconds - SLACK_SECONDS) return;
    this.#capacity.observe(observation);
    this.#observedUntilSeconds = observation.endSeconds;
    this.observedSeconds += observation.endSeconds - observation.startSeconds;
  }

  /** Observes a second before the start. */
  recall(observation: Observation): void {
    const beforeSeconds = this.#observedUntilSeconds;
    this.observe(observation);
    // The errors of these forecasts set the spread of later forecasts.
    if (this.#observedUntilSeconds > beforeSeconds) this.#capacity.latest(this.#observedUntilSeconds);
  }

  /** Takes a probable handover, known from the dish, in UTC; see `hintHandover`. */
  hint({
    atMs,
    uncertaintySeconds,
    confidence,
  }: {
    atMs: number;
    uncertaintySeconds: number;
    confidence: number;
  }): void {
    const clock = this.#capacity.handoverClock;
    if (clock) hintHandover(clock, this.clock.secondsAt(atMs), uncertaintySeconds, confidence);
  }

  /** Call it after a leap of UTC. The knowledge on the session clock stays valid. */
  updateUtc(): void {
    const nowSeconds = this.clock.nowSeconds();
    this.#capacity.tellTime(nowSeconds, this.clock.utcMsAt(nowSeconds), UTC_UNCERTAINTY_SECONDS);
  }

  /** Estimates the handovers on the session clock. */
  handoverEstimate(): HandoverEstimate | undefined {
    return this.#capacity.handoverClock?.estimate(this.clock.nowSeconds());
  }

  /** Returns the next handovers in UTC; none unless the link is known to be LEO. */
  nextHandovers(): ExpectedHandover[] {
    return (this.handoverEstimate()?.nextHandovers ?? []).map(({ atSeconds, confidence }) => ({
      atMs: Math.round(this.clock.utcMsAt(atSeconds)),
      confidence: rounded(confidence),
    }));
  }

  /** Returns the newest forecast in UTC, or the reason for its absence. */
  latest(): QuantileForecast | { because: string } {
    const nowSeconds = this.clock.nowSeconds();
    if (this.observedSeconds === 0) return { because: 'no throughput was observed yet' };
    if (nowSeconds - this.#observedUntilSeconds > STALE_SECONDS) {
      return { because: `no throughput was observed for ${STALE_SECONDS} s` };
    }
    const forecast = this.#capacity.latest(this.#issueTime(nowSeconds));
    if (forecast === undefined) return { because: 'no bits were received yet' };
    const dip = forecast.handovers[0]?.dip;
    const handovers = this.nextHandovers().map((handover) => ({ ...handover, ...(dip && { dip }) }));
    const issuedAtMs = Math.round(this.clock.utcMsAt(forecast.issuedAtMs / 1000));
    return { ...rounded({ ...forecast, handovers }), issuedAtMs, source: 'service' };
  }

  /** Forecasts begin at the end of the observations and not now: late reports must not look like an idle link. */
  #issueTime(nowSeconds: number): number {
    const isLate = nowSeconds - this.#observedUntilSeconds < LATEST_REPORT_SECONDS;
    this.#issuedSeconds = Math.max(this.#issuedSeconds, isLate ? this.#observedUntilSeconds : nowSeconds);
    return this.#issuedSeconds;
  }
}

/** Rounds to four significant digits, because every subscriber receives forecasts each second. UTC in ms stays. */
function rounded<Value>(value: Value): Value {
  if (typeof value === 'number') return (value > 1e12 ? value : Number(value.toPrecision(4))) as Value;
  if (Array.isArray(value)) return value.map(rounded) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)])) as Value;
}
