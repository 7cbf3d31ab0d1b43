/** The plugin's client against the service, over real connections. */

import { expect, test } from '@jest/globals';
import type { QuantileForecast } from '../abr/forecast.ts';
import { createServiceForecaster, type ServiceForecaster } from '../predictor/service-client/index.ts';
import { closedAfterTest, startForTest } from './opened.fixture.ts';

/** Downloads at 50 Mbit/s until `done` returns true. Rejects after 10 s. */
async function downloadUntil(
  client: ServiceForecaster,
  startedMs: number,
  done: (latest?: QuantileForecast) => boolean,
) {
  const nowSeconds = () => (performance.now() - startedMs) / 1000;
  let observedSeconds = nowSeconds();
  for (const limit = observedSeconds + 10; observedSeconds < limit; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (; observedSeconds + 0.1 < nowSeconds(); observedSeconds += 0.1) {
      const when = { startSeconds: observedSeconds, endSeconds: observedSeconds + 0.1 };
      client.observe({ kind: 'throughput', ...when, bits: 5e6 });
    }
    const latest = client.latest(nowSeconds()) as QuantileForecast | undefined;
    if (done(latest)) return { latest, atSeconds: nowSeconds() };
  }
  throw new Error(`no result within 10 s: ${JSON.stringify(client.state)}`);
}

test('reports come back as forecasts on the clock of the session, even after a restart of the service', async () => {
  const first = await startForTest();
  const client = closedAfterTest(createServiceForecaster(first.url, { staleSeconds: 1.5 }));
  const startedMs = performance.now();
  client.start({ seed: 1 });
  const { latest, atSeconds } = await downloadUntil(client, startedMs, (forecast) => forecast !== undefined);
  expect(latest!.source).toBe('service');
  expect(latest!.issuedAtMs / 1000).toBeLessThanOrEqual(atSeconds + 0.02);
  expect(latest!.issuedAtMs / 1000).toBeGreaterThan(atSeconds - 1.5);
  expect(latest!.quantilesBps[0]![3]).toBeGreaterThan(35e6);
  expect(latest!.quantilesBps[0]![3]).toBeLessThan(70e6);
  expect(latest!.fluctuation).toMatchObject({ correlation: expect.any(Number) });
  await first.close();
  // Without the service the client has no forecast, not even a stale forecast.
  await downloadUntil(client, startedMs, (forecast) => forecast === undefined);
  await startForTest({ port: first.port });
  await downloadUntil(client, startedMs, (forecast) => forecast !== undefined);
  expect(client.state).toMatchObject({ verdict: 'trusted', share: 1 });
});
