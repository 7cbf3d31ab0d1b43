import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { eventReader } from './api/sse.fixture.ts';
import { REAL_CLOCK } from './clock.ts';
import { startFakeDish } from './fake-dish/fake-dish.fixture.ts';
import { syntheticDish } from './fake-dish/simulated-dish.ts';
import type { Log, LogFields } from './log.ts';
import { closedAfterTest, startForTest } from './opened.fixture.ts';
import type { ServiceOptions } from './start-service.ts';

/** A service, and a function that waits for a line of its log. */
async function logging(options: Partial<ServiceOptions> = {}) {
  const lines: string[] = [];
  let onLine = () => {};
  const add = (level: string, { part, code }: LogFields, message: string) => {
    lines.push(`${level} ${part} ${code}: ${message}`);
    onLine();
  };
  const of = (level: string) => (fields: LogFields, message: string) => add(level, fields, message);
  const log: Log = { info: of('info'), warn: of('warn'), error: of('error') };
  const running = await startForTest({ log, ...options });
  return {
    ...running,
    lines,
    async until(text: string) {
      while (!lines.some((one) => one.includes(text))) await new Promise<void>((resolve) => (onLine = resolve));
    },
  };
}

test('says at once that a dish is not there, and how to check that', async () => {
  const { lines, until } = await logging({ dish: '127.0.0.1:1' });
  await until('dish');
  expect(lines).toEqual([expect.stringMatching(/^warn dish unreachable: 127\.0\.0\.1:1: nothing answers there \(/)]);
  expect(lines[0]).toContain('Check with "ping 127.0.0.1": ');
});

test('a dish that is lost and found is a line each; states that change every second are not logged', async () => {
  const dish = closedAfterTest(await startFakeDish({ clock: REAL_CLOCK, script: syntheticDish({ seed: 2 }) }));
  const { lines, until, url } = await logging({ dish: dish.address });
  await until('online');
  const events = await eventReader(`${url}/v1/events?types=state`);
  dish.misbehave({ outage: 'NO_SATS' });
  while ((await events.next()).data.dish?.state !== 'outage');
  dish.misbehave({});
  while ((await events.next()).data.dish?.state !== 'online');
  events.close();
  dish.misbehave({ failWith: status.UNAVAILABLE });
  await until('unreachable');
  const online = 'info dish online: the dish is online';
  expect(lines.splice(0)).toEqual([online, expect.stringMatching(/^warn dish unreachable: /)]);
  dish.misbehave({});
  await until('online');
  expect(lines).toEqual([online]);
});

test('a problem is a line when it appears and one when it ends, however often it is reported', async () => {
  const { service, lines } = await logging();
  for (let i = 0; i < 3; i++) service.problems.report('recording', 'failed', 'the disk is full');
  service.problems.clear('recording', 'failed');
  service.problems.clear('recording', 'failed');
  expect(lines).toEqual([
    'warn recording failed: the disk is full',
    'info recording failed: over after 0 s, reported 3 times',
  ]);
});

test('a refused client is a line', async () => {
  const { url, lines } = await logging({ token: 'a-long-secret-of-ours' });
  for (let i = 0; i < 3; i++) expect((await fetch(`${url}/v1/state`)).status).toBe(401);
  expect(lines).toEqual(['warn client unauthorized: 127.0.0.1 is refused: expected the bearer token of the service']);
});
