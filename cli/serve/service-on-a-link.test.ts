/** Which services a session of MPC-L uses: that of its own link, not that of another one. */

import { expect, test } from '@jest/globals';
import { createController } from '../../abr/algorithms.ts';
import type { Forecaster, Observation, QuantileForecast } from '../../abr/forecast.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { ForecastChain } from '../../predictor/forecast/chain.ts';
import { ForecastGate } from '../../predictor/service-client/forecast-gate.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { SCENARIOS, traceScaleOf } from '../../replay/scenarios.ts';
import { simulateSession } from '../../replay/simulator/play.ts';
import { linkSteps, meanRateBps, traceStartUtcMs } from '../../replay/trace.ts';
import type { ForecastReply, WireObservation } from '../../service/api/wire.ts';
import { type DishScript, syntheticDish } from '../../service/index.ts';
import { PredictionService } from '../../service/prediction-service.ts';
import { capacityOf } from './serve-simulated.ts';

const SCENARIO = SCENARIOS['hd-16']!;
const TRACES = synthesizeShippedTraces();
/** The default of `leo-abr serve --dish simulated`. */
const OTHER = TRACES.find(({ name }) => name === 'stationary-typical')!;
/** Time for which the service has watched its dish. */
const WATCHED_SECONDS = 170;
const SEGMENTS = 8;
const TICKS_PER_SECOND = 10;
const TICKS_PER_REPORT = 5;
const STALE_SECONDS = 3;

/**
 * The real service in the simulator's time, and between it and a session what the client does, without its network:
 * reports twice a second, the forecasts as they are published, and the client's gate.
 */
class SimulatedService implements Forecaster {
  readonly name = 'service';
  readonly gate = new ForecastGate();
  /** Decisions that found a recent forecast, and those that used it. */
  asked = 0;
  used = 0;
  readonly #service: PredictionService;
  #nowSeconds = -WATCHED_SECONDS;
  #ticks = -WATCHED_SECONDS * TICKS_PER_SECOND;
  #waiting: Observation[] = [];
  #newest: QuantileForecast | undefined;
  #experienceSeconds: number | undefined;

  /** `utcMsAtStart`: UTC in ms of the service's machine at second 0 of the session. */
  constructor(
    private readonly utcMsAtStart: number,
    private readonly dish: DishScript,
  ) {
    const clock = { utcMs: () => this.#utcMs(this.#nowSeconds), monotonicMs: () => this.#nowSeconds * 1000 };
    this.#service = new PredictionService({ clock, version: '0' });
    this.#service.listen({ event: (type, reply) => type === 'forecast' && this.#receive(reply as ForecastReply) });
    this.#advance(0);
    this.gate.start();
  }

  start(): void {}

  observe(observation: Observation): void {
    if (observation.kind === 'throughput') {
      const { startSeconds, endSeconds, bits } = observation;
      this.gate.observe(startSeconds, endSeconds, bits);
    }
    this.#waiting.push(observation);
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    this.#advance(nowSeconds);
    const newest = this.#newest;
    if (newest === undefined || nowSeconds - newest.issuedAtMs / 1000 >= STALE_SECONDS) return undefined;
    const isUsed = this.gate.admits(newest, nowSeconds, this.#experienceSeconds);
    this.asked++;
    if (isUsed) this.used++;
    return isUsed ? newest : undefined;
  }

  #advance(untilSeconds: number): void {
    for (; this.#ticks <= untilSeconds * TICKS_PER_SECOND; this.#ticks++) {
      this.#nowSeconds = this.#ticks / TICKS_PER_SECOND;
      this.#service.tick();
      const atMs = Math.round(this.#utcMs(this.#nowSeconds));
      if (atMs % 1000 === 0) this.#service.observeTelemetry(this.dish.at(atMs));
      if (this.#ticks % TICKS_PER_REPORT === 0 && this.#waiting.length > 0) {
        const observations = this.#waiting.splice(0).map((one) => this.#onTheWire(one));
        this.#service.observe({ player: 'p', observations });
      }
    }
    this.#nowSeconds = Math.max(this.#nowSeconds, untilSeconds);
  }

  #receive({ forecast, observedSeconds }: ForecastReply): void {
    if (forecast === null) return;
    this.#newest = { ...(forecast as QuantileForecast), issuedAtMs: forecast.issuedAtMs - this.utcMsAtStart };
    this.#experienceSeconds = observedSeconds;
    this.gate.addForecast(this.#newest);
  }

  #utcMs(seconds: number): number {
    return this.utcMsAtStart + seconds * 1000;
  }

  #onTheWire(observation: Observation): WireObservation {
    if (observation.kind === 'request-latency') {
      const { kind, atSeconds, latencySeconds } = observation;
      return { kind, atMs: this.#utcMs(atSeconds), latencyMs: latencySeconds * 1000 };
    }
    const { startSeconds, endSeconds, ...rest } = observation;
    return { ...rest, startMs: this.#utcMs(startSeconds), endMs: this.#utcMs(endSeconds) };
  }
}

/** A session of MPC-L on each shipped trace, with a service that watches this link or another one. */
function sessions({ isOfLink }: { isOfLink: boolean }) {
  return TRACES.map((trace) => {
    const scale = traceScaleOf(SCENARIO, meanRateBps(trace)) * SCENARIO.payloadShare;
    const dish = syntheticDish({
      seed: 1,
      capacity: isOfLink ? capacityOf(trace, linkSteps(trace, scale)) : capacityOf(OTHER),
    });
    const service = new SimulatedService(traceStartUtcMs(trace.metadata), dish);
    const forecaster = new ForecastChain([service, createBuiltInForecaster()]);
    const controller = createController('mpc-l');
    simulateSession({ trace, scenario: SCENARIO, controller, segmentCount: SEGMENTS, forecaster });
    const { asked, used, gate } = service;
    return { trace: trace.name, verdict: gate.verdict(), usedShare: used / asked };
  });
}

test('a service of the link is used', () => {
  for (const { trace, verdict, usedShare } of sessions({ isOfLink: true })) {
    expect({ trace, verdict, isUsed: usedShare > 0.25 }).toEqual({ trace, verdict: 'trusted', isUsed: true });
  }
});

test('a service of a link four times as fast is refused', () => {
  for (const { trace, verdict, usedShare } of sessions({ isOfLink: false })) {
    expect({ trace, verdict, usedShare }).toEqual({ trace, verdict: 'contradicted', usedShare: 0 });
  }
});
