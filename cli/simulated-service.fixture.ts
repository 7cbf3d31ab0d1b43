/**
 * For tests: the real service in the simulator's time, and between it and a session what the client does without its
 * network: reports twice a second, forecasts as they are published, both 20 ms late, and the client's gate.
 */

import type { Forecaster, Observation, QuantileForecast } from '../abr/forecast.ts';
import { ForecastGate } from '../predictor/forecast/forecast-gate.ts';
import type { ForecastReply, WireObservation } from '../service/api/wire.ts';
import type { DishScript } from '../service/index.ts';
import { PredictionService } from '../service/prediction-service.ts';

const TICKS_PER_SECOND = 10;
const TICKS_PER_REPORT = 5;
const DELAY_SECONDS = 0.02;
const STALE_SECONDS = 3;

export interface SimulatedServiceOptions {
  /** UTC in ms of the service's machine at second 0 of the session. */
  utcMsAtStart: number;
  /** The dish that the service watches. */
  dish: DishScript;
  /** For how long it has watched the dish at the session's start. */
  watchedSeconds: number;
}

export class SimulatedService implements Forecaster {
  readonly name = 'service';
  readonly gate = new ForecastGate({ staleSeconds: STALE_SECONDS });
  /** Decisions that found a recent forecast, and those that used it. */
  asked = 0;
  used = 0;
  readonly #utcMsAtStart: number;
  readonly #dish: DishScript;
  readonly #service: PredictionService;
  #nowSeconds: number;
  #ticks: number;
  #waiting: Observation[] = [];
  #onTheirWay: { atSeconds: number; act: () => void }[] = [];
  #newest: QuantileForecast | undefined;
  #experienceSeconds: number | undefined;

  constructor({ utcMsAtStart, dish, watchedSeconds }: SimulatedServiceOptions) {
    this.#utcMsAtStart = utcMsAtStart;
    this.#dish = dish;
    this.#ticks = -watchedSeconds * TICKS_PER_SECOND;
    this.#nowSeconds = -watchedSeconds;
    const clock = {
      utcMs: () => utcMsAtStart + this.#nowSeconds * 1000,
      monotonicMs: () => this.#nowSeconds * 1000,
    };
    this.#service = new PredictionService({ clock, version: '0' });
    this.#service.listen({
      event: (type, reply) => {
        if (type === 'forecast') this.#receive(reply as ForecastReply);
      },
    });
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
      const due = this.#onTheirWay.filter(({ atSeconds }) => atSeconds <= this.#nowSeconds);
      this.#onTheirWay = this.#onTheirWay.filter((one) => !due.includes(one));
      for (const { act } of due) act();
      this.#service.tick();
      const atMs = Math.round(this.#utcMsAtStart + this.#nowSeconds * 1000);
      if (atMs % 1000 === 0) this.#service.observeTelemetry(this.#dish.at(atMs));
      if (this.#ticks % TICKS_PER_REPORT === 0 && this.#waiting.length > 0) {
        const observations = this.#waiting.splice(0).map((one) => this.#onTheWire(one));
        this.#later(() => this.#service.observe({ player: 'p', observations }));
      }
    }
    this.#nowSeconds = Math.max(this.#nowSeconds, untilSeconds);
  }

  #receive({ forecast, observedSeconds }: ForecastReply): void {
    if (forecast === null) return;
    const onSession = { ...(forecast as QuantileForecast), issuedAtMs: forecast.issuedAtMs - this.#utcMsAtStart };
    this.#later(() => {
      this.#newest = onSession;
      this.#experienceSeconds = observedSeconds;
      this.gate.addForecast(onSession, this.#nowSeconds, observedSeconds);
    });
  }

  #later(act: () => void): void {
    this.#onTheirWay.push({ atSeconds: this.#nowSeconds + DELAY_SECONDS, act });
  }

  #onTheWire(observation: Observation): WireObservation {
    const utcMs = (seconds: number) => this.#utcMsAtStart + seconds * 1000;
    if (observation.kind === 'request-latency') {
      const { kind, atSeconds, latencySeconds } = observation;
      return { kind, atMs: utcMs(atSeconds), latencyMs: latencySeconds * 1000 };
    }
    const { startSeconds, endSeconds, ...rest } = observation;
    return { ...rest, startMs: utcMs(startSeconds), endMs: utcMs(endSeconds) };
  }
}
