import { describe, expect, test } from '@jest/globals';
import type { Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { Events } from './events.ts';
import { Forecasting } from './forecasting.ts';

/** Forecasts 8 Mbit/s by default, and records its arguments. */
class Recorder implements Forecaster {
  readonly contexts: SessionContext[] = [];
  readonly observations: Observation[] = [];
  answer: ((nowSeconds: number) => QuantileForecast | undefined) | undefined;

  constructor(readonly name: string) {}

  start(context: SessionContext): void {
    this.contexts.push(context);
  }

  observe(observation: Observation): void {
    this.observations.push(observation);
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    if (this.answer !== undefined) return this.answer(nowSeconds);
    return {
      issuedAtMs: nowSeconds * 1000,
      source: this.name,
      stepEndsSeconds: [4],
      levels: [0.1, 0.5, 0.9],
      quantilesBps: [[6e6, 8e6, 10e6]],
      rankCorrelation: 0.5,
      handovers: [],
    };
  }
}

/** A session's clock without UTC. */
const AT_START = { read: () => ({ nowSeconds: 0 }) };

describe('Forecasting', () => {
  test("starts all forecasters, passes them the meter's observations, and asks them in order", () => {
    const [first, second] = [new Recorder('first'), new Recorder('second')];
    const forecasting = new Forecasting({
      seed: 3,
      events: new Events({ logger: null }),
      forecasters: [first, second],
    });
    forecasting.start(AT_START);
    const { meter } = forecasting;
    const request = meter.requestSent(0);
    meter.firstByte(request, 0.05);
    meter.received(request, 0.3, 2e6);
    for (const one of [first, second]) {
      expect(one.contexts).toEqual([{ seed: 3 }]);
      expect(one.observations.map(({ kind }) => kind)).toEqual([
        'request-latency',
        'throughput',
        'throughput',
        'throughput',
      ]);
    }
    expect(forecasting.latest({ nowSeconds: 0.3 })?.source).toBe('first');
    first.answer = () => undefined;
    expect(forecasting.latest({ nowSeconds: 0.4 })?.source).toBe('second');
  });

  test('a call of latest() passes complete observations; another session has another meter', () => {
    const recorder = new Recorder('recorder');
    const forecasting = new Forecasting({ seed: 3, events: new Events({ logger: null }), forecasters: [recorder] });
    forecasting.start(AT_START);
    const { meter } = forecasting;
    meter.requestSent(0);
    forecasting.latest({ nowSeconds: 1 });
    expect(recorder.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 1 });
    forecasting.start(AT_START);
    expect(forecasting.meter).toBe(meter);
    forecasting.sourceEnded();
    forecasting.start(AT_START);
    expect(forecasting.meter).not.toBe(meter);
  });

  test('a forecaster that throws or is invalid causes one fault with its name; the next one is asked', async () => {
    const events = new Events({ logger: null });
    const [throwing, nonsense, sound] = [new Recorder('throwing'), new Recorder('nonsense'), new Recorder('sound')];
    throwing.answer = () => {
      throw new Error('out of order');
    };
    nonsense.answer = (now) => ({ ...sound.latest(now)!, quantilesBps: [[Number.NaN, 1, 2]] });
    const forecasting = new Forecasting({ seed: 3, events, forecasters: [throwing, nonsense, sound] });
    forecasting.start(AT_START);
    for (let now = 1; now < 20; now++) expect(forecasting.latest({ nowSeconds: now })?.source).toBe('sound');
    expect(events.faults.map(({ code }) => code)).toEqual(['forecaster-failed', 'forecaster-failed']);
    expect(events.faults[0]!.message).toMatch(/throwing.*out of order/);
    expect(events.faults[1]!.message).toMatch(/nonsense/);
  });

  test('forecasters get UTC again after a leap or from a better source', () => {
    const times: number[][] = [];
    const recorder = Object.assign(new Recorder('recorder'), { tellTime: (...time: number[]) => times.push(time) });
    const forecasting = new Forecasting({ seed: 3, events: new Events({ logger: null }), forecasters: [recorder] });
    forecasting.start({ read: () => ({ nowSeconds: 0, utcMs: 1e12, utcUncertaintySeconds: 2 }) });
    const at = (nowSeconds: number, utcMs: number, utcUncertaintySeconds = 2) =>
      forecasting.latest({ nowSeconds, utcMs, utcUncertaintySeconds });
    at(0, 1e12 + 5000);
    at(1, 1e12 + 1020);
    at(2, 1e12 + 2010);
    expect(times).toEqual([]);
    at(3, 1e12 + 6000);
    at(4, 1e12 + 7000);
    at(5, 1e12 + 8000, 0.05);
    at(6, 1e12 + 9000, 0.05);
    forecasting.latest({ nowSeconds: 7 });
    expect(times).toEqual([
      [3, 1e12 + 6000, 2],
      [5, 1e12 + 8000, 0.05],
    ]);
  });
});
