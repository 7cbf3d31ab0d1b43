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
  private readonly _capacity: QuantileForecaster;
  private _observedUntilSeconds = Number.NEGATIVE_INFINITY;
  private _issuedSeconds = 0;
  observedSeconds = 0;

  constructor(
    private readonly _clock: SessionClock,
    model?: Model,
  ) {
    this._capacity = createBuiltInForecaster({ model });
    this._capacity.start({
      utcMsAtStart: _clock.utcMsAt(0),
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: 1,
    });
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') {
      this._capacity.observe(observation);
      return;
    }
    // The dish's usage and the players' reports may cover the same time: the first observation counts.
    if (observation.startSeconds < this._observedUntilSeconds - SLACK_SECONDS) return;
    this._capacity.observe(observation);
    this._observedUntilSeconds = observation.endSeconds;
    this.observedSeconds += observation.endSeconds - observation.startSeconds;
  }

  /** Observes a second before the start. */
  recall(observation: Observation): void {
    const beforeSeconds = this._observedUntilSeconds;
    this.observe(observation);
    // The errors of these forecasts set the spread of later forecasts.
    if (this._observedUntilSeconds > beforeSeconds) this._capacity.latest(this._observedUntilSeconds);
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
    const clock = this._capacity.handoverClock;
    if (clock) hintHandover(clock, this._clock.secondsAt(atMs), uncertaintySeconds, confidence);
  }

  /** Call it after a leap of UTC. The knowledge on the session clock stays valid. */
  updateUtc(): void {
    const nowSeconds = this._clock.nowSeconds();
    this._capacity.tellTime(nowSeconds, this._clock.utcMsAt(nowSeconds), UTC_UNCERTAINTY_SECONDS);
  }

  /** Estimates the handovers on the session clock. */
  handoverEstimate(): HandoverEstimate | undefined {
    return this._capacity.handoverClock?.estimate(this._clock.nowSeconds());
  }

  /** Returns the next handovers in UTC; none unless the link is known to be LEO. */
  nextHandovers(): ExpectedHandover[] {
    return (this.handoverEstimate()?.nextHandovers ?? []).map(({ atSeconds, confidence }) => ({
      atMs: Math.round(this._clock.utcMsAt(atSeconds)),
      confidence: rounded(confidence),
    }));
  }

  /** Returns the newest forecast in UTC, or the reason for its absence. */
  latest(): QuantileForecast | { because: string } {
    const nowSeconds = this._clock.nowSeconds();
    if (this.observedSeconds === 0) return { because: 'no throughput was observed yet' };
    if (nowSeconds - this._observedUntilSeconds > STALE_SECONDS) {
      return { because: `no throughput was observed for ${STALE_SECONDS} s` };
    }
    const forecast = this._capacity.latest(this._issueTime(nowSeconds));
    if (forecast === undefined) return { because: 'no bits were received yet' };
    const dip = forecast.handovers[0]?.dip;
    const handovers = this.nextHandovers().map((handover) => ({ ...handover, ...(dip && { dip }) }));
    const issuedAtMs = Math.round(this._clock.utcMsAt(forecast.issuedAtMs / 1000));
    return { ...rounded({ ...forecast, handovers }), issuedAtMs, source: 'service' };
  }

  /** Forecasts begin at the end of the observations and not now: late reports must not look like an idle link. */
  private _issueTime(nowSeconds: number): number {
    const isLate = nowSeconds - this._observedUntilSeconds < LATEST_REPORT_SECONDS;
    this._issuedSeconds = Math.max(this._issuedSeconds, isLate ? this._observedUntilSeconds : nowSeconds);
    return this._issuedSeconds;
  }
}

/** Rounds to four significant digits, because every subscriber receives forecasts each second. UTC in ms stays. */
function rounded<Value>(value: Value): Value {
  if (typeof value === 'number') return (value > 1e12 ? value : Number(value.toPrecision(4))) as Value;
  if (Array.isArray(value)) return value.map(rounded) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)])) as Value;
}
