import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { normal, seededRandom } from '../abr/statistics/random.ts';
import { validForecast } from '../abr/valid-forecast.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { DEFAULT_LIMITS } from './api/http-server.ts';
import { eventReader } from './api/sse.fixture.ts';
import type { WireObservation } from './api/wire.ts';
import { REAL_CLOCK } from './clock.ts';
import { startFakeDish } from './fake-dish/fake-dish.fixture.ts';
import { syntheticDish } from './fake-dish/simulated-dish.ts';
import type { Log, LogFields } from './log.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { closedAfterTest, startForTest } from './opened.fixture.ts';
import { PredictionService } from './prediction-service.ts';
import { SmallDisk } from './recording/small-disk.fixture.ts';
import type { ServiceOptions } from './start-service.ts';

/** Runs a service for `seconds` with a manual clock, a dish and a downloading player. */
function served(seconds: number, { dish = true, player = true, leaps = new Map<number, number>() } = {}) {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '0' });
  const events: { type: string; data: unknown; atMs: number }[] = [];
  service.listen({ event: (type, data) => events.push({ type, data, atMs: clock.utcMs() }) });
  const script = syntheticDish({ seed: 6 });
  const random = seededRandom(8);
  const refused: string[] = [];
  for (let second = 1; second <= seconds; second++) {
    clock.leap(leaps.get(second) ?? 0);
    for (let tenth = 0; tenth < 10; tenth++) {
      clock.advance(0.1);
      service.tick();
    }
    if (dish) service.observeTelemetry(script.at(Math.floor(clock.utcMs() / 1000) * 1000));
    if (!player) continue;
    // Each epoch has a rate. The leaps of these tests are multiples of 15 s and keep the phase.
    const epoch = Math.floor((clock.utcMs() - 12_500) / 15_000);
    const rateBps = 25e6 * 3 ** seededRandom(epoch)();
    const observations = Array.from({ length: 10 }, (_, i): WireObservation => {
      const endMs = clock.utcMs() - (9 - i) * 100;
      return { kind: 'throughput', startMs: endMs - 100, endMs, bits: (rateBps * Math.exp(normal(random) / 8)) / 10 };
    });
    const reply = service.observe({ player: 'p', observations });
    refused.push(...reply!.verdicts.filter((verdict) => verdict !== 'accepted'));
  }
  return { clock, service, events, refused };
}

test('forecasts the handovers and the rates of a link with a dish, and publishes both', () => {
  const { service, clock, events, refused } = served(90);
  expect(refused).toEqual([]);
  const { handovers, epoch } = service.handovers();
  expect(epoch.leoProbability).toBeGreaterThan(0.97);
  expect(handovers).toHaveLength(3);
  for (const { atMs } of handovers) {
    expect(atMs).toBeGreaterThan(clock.utcMs());
    const off = (((atMs - 12_000) % 15_000) + 15_000) % 15_000;
    expect(Math.min(off, 15_000 - off)).toBeLessThan(1500);
  }
  const due = events.filter(({ type, data }) => type === 'handover' && (data as { kind?: string }).kind === 'due');
  expect(due.length).toBeGreaterThanOrEqual(3);
  due.slice(1).forEach(({ atMs }, i) => {
    expect(Math.abs(atMs - due[i]!.atMs - 15_000)).toBeLessThan(2000);
  });

  // A forecast is published per report, here once a second.
  expect(Math.abs(events.filter(({ type }) => type === 'forecast').length - 90)).toBeLessThan(6);
  const forecast = service.forecast().forecast!;
  expect(() => validForecast(forecast)).not.toThrow();
  expect(forecast.handovers.map(({ dip }) => dip!.depth)).toEqual([0.8, 0.8, 0.8]);
  // The player's rates spread by an eighth, independently from one 0.1 s to the next.
  const { levels, ratios, correlation } = forecast.fluctuation!;
  expect(ratios[levels.indexOf(0.25)]).toBeCloseTo(Math.exp(-0.67 / 8), 1);
  // Dips count as fluctuation until handovers are known.
  expect(correlation).toBeLessThan(0.35);
  const numbers = [...ratios, correlation, ...forecast.handovers.flatMap(({ dip }) => dip!.seconds)];
  for (const number of numbers) expect(number).toBe(Number(number.toPrecision(4)));
});

test('keeps usage and expected capacity of the last minute, also over a leap of the clock', () => {
  for (const leaps of [new Map<number, number>(), new Map([[80, 3600]])]) {
    const { service, clock } = served(90, { leaps });
    const { serverUtcMs, downlinkUsage, expectedCapacity } = service.history();
    expect(serverUtcMs).toBe(clock.utcMs());
    for (const rates of [downlinkUsage, expectedCapacity]) {
      const agesSeconds = rates.map(({ atMs }) => (clock.utcMs() - atMs) / 1000);
      expect(agesSeconds).toEqual([...agesSeconds].sort((a, b) => b - a));
      expect(agesSeconds[0]).toBeGreaterThan(58);
      expect(agesSeconds[0]).toBeLessThanOrEqual(60);
      expect(agesSeconds.at(-1)).toBeLessThan(2);
      expect(rates.length).toBeGreaterThan(55);
    }
    expect(Math.max(...downlinkUsage.map(({ bps }) => bps))).toBeLessThanOrEqual(1e8);
    expect(Math.min(...expectedCapacity.map(({ bps }) => bps))).toBeGreaterThan(10e6);
    clock.advance(30);
    expect(service.history().downlinkUsage.length).toBeLessThan(32);
  }
});

test('counts outages and obstruction per minute of the last hour', () => {
  const { clock, service } = served(0);
  for (let second = 0; second < 4000; second++) {
    clock.advance(1);
    const atMs = clock.utcMs();
    const ofHundred = second % 100;
    if (ofHundred >= 90) continue;
    service.observeTelemetry({ atMs, dropRate: ofHundred < 2 ? 1 : 0, obstructed: ofHundred === 1 });
  }
  const { lastHour } = service.history();
  const sum = (what: keyof (typeof lastHour)[number]) => lastHour.reduce((total, minute) => total + minute[what], 0);
  expect(lastHour.length).toBe(60);
  expect(lastHour[1]!.startMs - lastHour[0]!.startMs).toBe(60_000);
  // The newest minute is not over yet.
  for (const what of ['outageSeconds', 'obstructedSeconds'] as const) expect([35, 36]).toContain(sum(what));
  expect(sum('observedSeconds')).toBeGreaterThan(0.9 * 3500);
});

test("uses the dish's usage as capacity if no player reports", () => {
  const { forecast } = served(60, { player: false }).service.forecast();
  expect(forecast!.quantilesBps[0]![3]).toBeGreaterThan(50e6);
});

test.each([3600, -3600])('follows a leap of the clock by %i s and reports it, but no drift', (seconds) => {
  const leaps = new Map([20, 40, 60].map((at) => [at, at === 60 ? seconds : 0.08]));
  const { service, clock, events, refused } = served(120, { leaps });
  const reported = events.filter(({ type }) => type === 'clock');
  expect(reported).toMatchObject([{ data: { leapSeconds: expect.closeTo(seconds, 0) } }]);
  expect(service.problems.list()).toMatchObject([{ part: 'clock', code: 'leapt', count: 1 }]);
  // Observations of the second with the leap have times of either clock.
  expect(refused.length).toBeLessThanOrEqual(10);
  const { forecast } = service.forecast();
  expect(Math.abs(forecast!.issuedAtMs - clock.utcMs())).toBeLessThan(2000);
  // Between two ticks, too.
  clock.leap(-seconds);
  expect(Math.abs(service.forecast().forecast!.issuedAtMs - clock.utcMs())).toBeLessThan(2000);
  clock.leap(seconds);
  const { handovers } = service.handovers();
  expect(handovers[0]!.atMs).toBeGreaterThan(clock.utcMs());
  expect(handovers[0]!.atMs).toBeLessThan(clock.utcMs() + 16_000);
  clock.advance(601);
  service.tick();
  expect(service.problems.list()).toEqual([]);
});

test('how long something lasts stays true when UTC leaps', () => {
  const { clock, service } = served(0);
  service.problems.report('dish', 'unreachable', 'nothing answers');
  clock.advance(60);
  clock.leap(7200);
  service.tick();
  const { startedMs, serverUtcMs, dish, problems } = service.state();
  expect([serverUtcMs - startedMs, serverUtcMs - dish.sinceMs]).toEqual([60_000, 60_000]);
  const ages = problems.map(({ part, sinceMs }) => [part, serverUtcMs - sinceMs]);
  expect(Object.fromEntries(ages)).toEqual({ dish: 60_000, clock: 0 });
});

test("learns from the usage in the dish's history, unless it is too old", () => {
  const { clock, service } = served(0);
  for (const ago of [1000, 301, 299, ...Array.from({ length: 30 }, (_, i) => 29 - i)]) {
    service.observeTelemetry({ atMs: clock.utcMs() - ago * 1000, downlinkUsageBps: 40e6, fromHistory: true });
  }
  expect(service.state().link.observedSeconds).toBe(31);
  expect(service.forecast().forecast!.quantilesBps[0]![3]).toBeCloseTo(40e6, -7);
});

test('has no handovers without dish and evidence, and no forecast after a minute without observations', () => {
  const { service, clock } = served(8, { dish: false });
  expect(service.handovers().handovers).toEqual([]);
  clock.advance(61);
  const because = 'no throughput was observed for 60 s';
  expect(service.forecast()).toMatchObject({ forecast: null, because });
});

test('an hour of players that come and go takes no memory', () => {
  const clock = new ManualClock();
  const service = new PredictionService({ clock, version: '0' });
  const script = syntheticDish({ seed: 2 });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let usedBytes = Number.NaN;
  for (let second = 0; second < 4200; second++) {
    clock.advance(1);
    service.tick();
    service.observeTelemetry(script.at(Math.floor(clock.utcMs() / 1000) * 1000));
    const endMs = clock.utcMs();
    const observations: WireObservation[] = [{ kind: 'throughput', startMs: endMs - 1000, endMs, bits: 1e7 }];
    for (let n = 0; n < 10; n++) service.observe({ player: `p${n}-${Math.floor(second / (60 + n))}`, observations });
    if (second !== 1800) continue;
    collect();
    usedBytes = process.memoryUsage().heapUsed;
  }
  collect();
  expect(process.memoryUsage().heapUsed - usedBytes).toBeLessThan(1.5e6);
});

/** Faults around the service: it keeps answering, reports problems, and delivers its events. */

const at = temporaryFolder('file');

test('docs/service.md states the limits', () => {
  const { bodyBytes, rate, connections, subscribers } = DEFAULT_LIMITS;
  const text = readFileSync(join(import.meta.dirname, '../docs/service.md'), 'utf8');
  expect(/\*\*Limits\*\*: ([^.]+)/.exec(text)?.[1]?.replaceAll('\n', ' ')).toBe(
    `${bodyBytes / 1024} KiB per body, 200 observations per report; ${rate.perSecond} requests per second and address ` +
      `(bursts of ${rate.burst}); ${connections} connections; ${subscribers} event streams; 64 players`,
  );
});

test('half-open connections time out while others are answered', async () => {
  const { url, port } = await startForTest({ limits: { requestTimeoutMs: 150 } });
  const beginnings = [
    '',
    'GET /v1/state HTTP/1.1\r\nHost: loc',
    'POST /v1/observations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"pl',
  ];
  const sockets = await Promise.all(Array.from({ length: 30 }, (_, i) => opening(port, beginnings[i % 3]!)));
  const ended = sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  // Connections that have sent nothing have a longer timeout.
  await Promise.all(ended.filter((_, i) => i % 3 !== 0));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('connections beyond the limit are refused, and others continue', async () => {
  const { service, url, port } = await startForTest({ limits: { connections: 10 } });
  const reader = await eventReader(`${url}/v1/events?types=trigger`);
  await reader.next();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => opening(port, '')));
  // Besides the reader's, nine sockets are accepted. The kernel chooses them.
  let ended = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) socket.resume().once('close', () => ++ended === 11 && resolve());
  });
  service.publish('trigger', { n: 1 });
  expect((await reader.next()).data).toEqual({ n: 1 });
  reader.close();
  for (const socket of sockets) socket.destroy();
});

test('a reader that stalls is disconnected; the others get all events, once and in order', async () => {
  const { service, url, port } = await startForTest({ clock: new ManualClock() });
  const idle = await opening(port, 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  idle.pause();
  const ended = new Promise((resolve) => idle.once('close', resolve));
  const readers = await Promise.all(Array.from({ length: 2 }, () => eventReader(`${url}/v1/events?types=trigger`)));
  for (const reader of readers) await reader.next();
  while (service.stream.size < 3) await new Promise((resolve) => setImmediate(resolve));
  const text = 'x'.repeat(20_000);
  for (let n = 0; n < 500; n++) {
    service.publish('trigger', { n, text });
    for (const reader of readers) expect((await reader.next()).data.n).toBe(n);
  }
  expect(service.stream.slowReaders).toBe(1);
  idle.resume();
  await ended;
  // A second stream would wait for the end of the first one.
  const twice = await opening(port, 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2));
  await new Promise((resolve) => twice.resume().once('close', resolve));
  expect(service.stream.size).toBe(2);
  for (const reader of readers) reader.close();
});

test('a service that ends reports the lines that a full disk has lost', async () => {
  const recording = { directory: at('full'), maxBytes: 1e9, files: new SmallDisk() };
  const { service, url, close } = await startForTest({ recording });
  service.publish('trigger', {});
  await expect(close()).rejects.toThrow('recording: 1 line is lost');
  await expect(fetch(url)).rejects.toThrow();
});

function opening(port: number, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

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
