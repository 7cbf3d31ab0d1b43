import { expect, test } from '@jest/globals';
import type { Forecaster } from '../../abr/forecast.ts';
import { HOST } from '../host.fixture.ts';
import { Events } from '../page/events.ts';
import { Steady } from '../scripted.fixture.ts';
import { Forecasting } from './forecasting.ts';

/** A session's clock without UTC. */
const AT_START = { read: () => ({ nowSeconds: 0 }) };

/** With two forecasters, `first` and `second`; `changes` are the first one's. */
function started(changes: Partial<Forecaster> = {}, clock: { read(): object } = AT_START) {
  const second = Object.assign(new Steady(), { name: 'second' });
  const first = Object.assign(new Steady(), { name: 'first' }, changes);
  const events = new Events({ logger: null, host: HOST });
  const forecasting = new Forecasting({ seed: 3, events, forecasters: [first, second], hasPageForecasters: true });
  forecasting.start(clock as typeof AT_START);
  return { forecasting, events, first, second };
}

test("starts all forecasters, passes them the meter's observations, one meter per session, and asks them in order", () => {
  const { forecasting, first, second } = started({ latest: () => undefined });
  const { meter } = forecasting;
  const request = meter.requestSent(0);
  meter.firstByte(request, 0.05);
  meter.received(request, 0.3, 2e6);
  for (const one of [first, second]) {
    expect(one.contexts).toEqual([{ seed: 3 }]);
    expect(one.observations.map(({ kind }) => kind)).toEqual(['request-latency', ...Array(3).fill('throughput')]);
  }
  expect(forecasting.flushAndForecast({ nowSeconds: 0.6 })?.source).toBe('steady');
  // Complete observations are passed before.
  expect(second.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 0.4 });
  forecasting.sourceEnded();
  forecasting.start(AT_START);
  expect(forecasting.meter).not.toBe(meter);
});

test('forecasters get UTC again after a leap or from a better source', () => {
  const times: number[][] = [];
  const tellTime = (...time: number[]) => times.push(time);
  const { forecasting } = started({ tellTime } as object, {
    read: () => ({ nowSeconds: 0, utcMs: 1e12, utcUncertaintySeconds: 2 }),
  });
  const at = (nowSeconds: number, utcMs: number, utcUncertaintySeconds = 2) =>
    forecasting.flushAndForecast({ nowSeconds, utcMs, utcUncertaintySeconds });
  at(0, 1e12 + 5000);
  at(1, 1e12 + 1020);
  at(2, 1e12 + 2010);
  expect(times).toEqual([]);
  at(3, 1e12 + 6000);
  at(4, 1e12 + 7000);
  at(5, 1e12 + 8000, 0.05);
  at(6, 1e12 + 9000, 0.05);
  forecasting.flushAndForecast({ nowSeconds: 7 });
  expect(times.flat()).toEqual([3, 1e12 + 6000, 2, 5, 1e12 + 8000, 0.05]);
});
