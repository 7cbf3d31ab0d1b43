/** The plugin's forecaster on the reports of all players or the dish's busy seconds, in UTC. */

import type { ExpectedHandover, Observation, QuantileForecast } from '../../abr/forecast.ts';
import { type BuiltInForecaster, createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import type { Model } from '../../predictor/forecast/quantile-network.ts';
import type { HandoverEstimate } from '../../predictor/link/handover-clock/handover-clock.ts';
import { hintHandover } from '../../predictor/link/handover-clock/hint.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import type { SessionClock } from '../clock.ts';

/** Assumed error of the machine's clock (NTP over the observed link). */
const UTC_UNCERTAINTY_SECONDS = 0.5;
/** No forecast if the link was not observed for this long. */
const STALE_SECONDS = 60;
const LATEST_REPORT_SECONDS = 2;
/** Observations may overlap by this much, because timers round. */
const SLACK_SECONDS = 0.05;

export class LinkForecaster {
  readonly #capacity: BuiltInForecaster;
  #observedUntilSeconds = Number.NEGATIVE_INFINITY;
  #issuedSeconds = 0;
  observedSeconds = 0;

  constructor(
    private readonly clock: SessionClock,
    model?: Model,
  ) {
    this.#capacity = createBuiltInForecaster({ newSubSecond: () => new SubSecond(), model });
    this.#capacity.start({
      utcMsAtStart: clock.utcMsAtStart,
      utcUncertaintySeconds: UTC_UNCERTAINTY_SECONDS,
      seed: 1,
    });
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') {
      this.#capacity.observe(observation);
      return;
    }
    // The dish's usage and the players' reports may cover the same time: the first one counts.
    if (observation.startSeconds < this.#observedUntilSeconds - SLACK_SECONDS) return;
    this.#capacity.observe(observation);
    this.#observedUntilSeconds = observation.endSeconds;
    this.observedSeconds += observation.endSeconds - observation.startSeconds;
  }

  /** Observes a second before the start. */
  recall(observation: Observation): void {
    const beforeSeconds = this.#observedUntilSeconds;
    this.observe(observation);
    // The errors of these forecasts set the spread of the next ones.
    if (this.#observedUntilSeconds > beforeSeconds) this.#capacity.latest(this.#observedUntilSeconds);
  }

  /** A probable handover, known from the dish; see `hintHandover`. */
  hint(handover: { atMs: number; uncertaintySeconds: number; confidence: number }): void {
    const { atMs, uncertaintySeconds, confidence } = handover;
    const atSeconds = this.clock.secondsAt(atMs);
    const clock = this.#capacity.handoverClock;
    if (clock) hintHandover(clock, atSeconds, uncertaintySeconds, confidence);
  }

  /** Call it after a leap of UTC. What was learnt on the session clock stays valid. */
  updateUtc(): void {
    const nowSeconds = this.clock.nowSeconds();
    this.#capacity.tellTime(nowSeconds, this.clock.utcMsAt(nowSeconds), UTC_UNCERTAINTY_SECONDS);
  }

  /** On the session clock. */
  handoverEstimate(): HandoverEstimate | undefined {
    return this.#capacity.handoverClock?.estimate(this.clock.nowSeconds());
  }

  /** In UTC; empty unless the link is known to be LEO. */
  nextHandovers(): ExpectedHandover[] {
    return (this.handoverEstimate()?.nextHandovers ?? []).map(({ atSeconds, confidence }) => ({
      atMs: Math.round(this.clock.utcMsAt(atSeconds)),
      confidence: rounded(confidence),
    }));
  }

  /** In UTC, as in the API, or the reason why there is none. */
  latest(): QuantileForecast | { because: string } {
    const nowSeconds = this.clock.nowSeconds();
    if (this.observedSeconds === 0) return { because: 'no throughput was observed yet' };
    if (nowSeconds - this.#observedUntilSeconds > STALE_SECONDS) {
      return { because: `no throughput was observed for ${STALE_SECONDS} s` };
    }
    const forecast = this.#capacity.latest(this.#issueTime(nowSeconds));
    if (forecast === undefined || forecast.kind === 'path') return { because: 'no bits were received yet' };
    const dip = forecast.handovers[0]?.dip;
    const handovers = this.nextHandovers().map((handover) => ({ ...handover, ...(dip && { dip }) }));
    const issuedAtMs = Math.round(this.clock.utcMsAt(forecast.issuedAtMs / 1000));
    return { ...rounded({ ...forecast, handovers }), issuedAtMs, source: 'service' };
  }

  /** The end of the observations, not now: late reports must not look like an idle link. */
  #issueTime(nowSeconds: number): number {
    const isLate = nowSeconds - this.#observedUntilSeconds < LATEST_REPORT_SECONDS;
    this.#issuedSeconds = Math.max(this.#issuedSeconds, isLate ? this.#observedUntilSeconds : nowSeconds);
    return this.#issuedSeconds;
  }
}

/** To four significant digits, because every subscriber receives them each second; UTC in ms stays. */
function rounded<Value>(value: Value): Value {
  if (typeof value === 'number') return (value > 1e12 ? value : Number(value.toPrecision(4))) as Value;
  if (Array.isArray(value)) return value.map(rounded) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rounded(inner)])) as Value;
}
