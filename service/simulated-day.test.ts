/**
 * Two simulated hours in accelerated time: players come and go, the disk fills and empties, the dish reboots, the clock
 * leaps, the network stalls. Memory stays flat, no acknowledged report is lost, all problems are reported and pass.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { status as grpcStatus } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../abr/statistics/random.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { eventReader } from './api/sse.fixture.ts';
import type { ObservationsRequest } from './api/wire.ts';
import { startFakeDish } from './fake-dish/fake-dish.fixture.ts';
import { syntheticDish } from './fake-dish/simulated-dish.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { SmallDisk } from './recording/small-disk.fixture.ts';
import { startService } from './start-service.ts';

// Half a minute on an idle machine.
jest.setTimeout(600_000);

const DAY_SECONDS = 7200;
const PLAYERS = 20;
/** Simulates a slow machine, on which the periodic tasks take twice their period. */
const SECONDS_PER_PERIOD = 2;
const ROOM_BYTES = 1e12;

/** Faults as intervals of seconds. The last 15 minutes are quiet. */
const DISK_FULL = [
  [900, 1500],
  [4000, 4900],
] as const;
const DISH_STALLS = [
  [1200, 1260],
  [3000, 3090],
  [5200, 5215],
] as const;
const PLAYERS_STALL = [
  [700, 720],
  [3300, 3345],
] as const;
const CALM = [[6300, DAY_SECONDS]] as const;
const DISH_BOOTS = [2000, 5500];
/** Leap in seconds, by second. */
const CLOCK_LEAPS = new Map([
  [2700, 3600],
  [3500, -7200],
  [4300, 2.5],
]);

const isDuring = (periods: readonly (readonly [number, number])[], second: number) =>
  periods.some(([from, to]) => second >= from && second < to);

const at = temporaryFolder('file');
beforeAll(() => {
  // The test drives the service's intervals; sockets and files run in real time.
  jest.useFakeTimers({
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
    ],
  });
});
afterAll(() => void jest.useRealTimers());

test('two hours of faults: memory is flat, no acknowledged report is lost, problems pass', async () => {
  const clock = new ManualClock();
  const disk = new SmallDisk({ room: ROOM_BYTES });
  const dish = await startFakeDish({ script: syntheticDish({ seed: 2 }), clock, historySeconds: 60 });
  const faults: Error[] = [];
  const running = await startService({
    ...{ version: '0', port: 0, clock, dish: dish.address, onFault: (error) => faults.push(error) },
    recording: { directory: at(), maxBytes: 1e9, files: disk },
  });
  const { service, url } = running;
  const happened: Record<string, number> = { report: 0 };
  const count = (kind: string) => {
    happened[kind] = (happened[kind] ?? 0) + 1;
  };
  service.listen({
    event: (type) => type !== 'state' && type !== 'traffic' && count(type),
    telemetry: () => count('telemetry'),
  });
  const players = new SimulatedPlayers(clock);
  const problems = new Set<string>();
  const most = { players: 0, waitingLines: 0 };
  let usedBefore = Number.NaN;

  for (let second = 0; second < DAY_SECONDS; second += SECONDS_PER_PERIOD) {
    clock.leap(CLOCK_LEAPS.get(second) ?? 0);
    if (DISH_BOOTS.includes(second)) dish.reboot();
    dish.misbehave(isDuring(DISH_STALLS, second) ? { failWith: grpcStatus.UNAVAILABLE } : {});
    disk.room = isDuring(DISK_FULL, second) ? 0 : ROOM_BYTES;
    for (let tick = 0; tick < 10; tick++) {
      clock.advance(SECONDS_PER_PERIOD / 10);
      jest.advanceTimersByTime(100);
    }
    for (const { number, request } of players.reports(second)) {
      // Some are sent over the network.
      const isTaken =
        number % 100 === 0 ? await post(url, request) : service.observe(request)?.verdicts[0] === 'accepted';
      if (isTaken) players.acknowledged[number] = 1;
    }
    // The dish is polled over the network; on a frozen machine a poll may be missed.
    const isDishRead = () => service.state().dish.lastAnswerMs === clock.utcMs();
    for (let turn = 0; turn < 500 && !isDishRead(); turn++) await new Promise(setImmediate);

    const { recording, link, problems: now } = service.state();
    for (const { part, code } of now) problems.add(`${part} ${code}`);
    most.players = Math.max(most.players, link.players);
    most.waitingLines = Math.max(most.waitingLines, recording.waiting);
    if (second % 100 === 0) {
      const reader = await eventReader(`${url}/v1/events`);
      await reader.next();
      reader.close();
    }
    if (second === 1800) usedBefore = await usedBytes();
  }

  while (service.state().recording.waiting > 0) {
    jest.advanceTimersByTime(1000);
    await new Promise(setImmediate);
  }
  expect(service.state()).toMatchObject({ dish: { state: 'online' }, link: { players: 0 }, problems: [] });
  expect(service.state().recording).toMatchObject({ waiting: 0, lost: 0, deletedFiles: 0 });
  while (service.stream.size > 0) await new Promise(setImmediate);
  const growth = (await usedBytes()) - usedBefore;
  expect(problems).toEqual(new Set(['recording failed', 'dish unreachable', 'clock leapt']));
  await running.close();
  dish.close();
  expect(faults).toEqual([]);

  const { reports, kinds } = recorded();
  happened['report'] = players.acknowledged.reduce((sum, one) => sum + one, 0);
  expect(reports.length).toBe(happened['report']);
  expect(reports.length).toBeGreaterThan(10_000);
  expect(reports.filter((number) => players.acknowledged[number] !== 1)).toEqual([]);
  expect(new Set(reports).size).toBe(reports.length);
  expect(kinds).toEqual(happened);
  expect(readTraces([at()]).length).toBeGreaterThan(3);
  // Seconds are missing after stalls longer than the dish's history, and after its reboots.
  expect(happened['telemetry']).toBeGreaterThan(DAY_SECONDS - 200);

  expect(most.players).toBeGreaterThan(8);
  expect(most.players).toBeLessThanOrEqual(PLAYERS);
  expect(most.waitingLines).toBeGreaterThan(5000);
  // After thousands of reports and 5000 seconds of the dish; all players are gone.
  expect(growth).toBeLessThan(3e6);
});

/** Players that come and go; a network stall delays their reports. */
class SimulatedPlayers {
  readonly #clock: ManualClock;
  readonly #random = seededRandom(13);
  readonly #players = Array.from({ length: PLAYERS }, (_, n) => ({ name: `p${n}`, isHere: false, untilSecond: 0 }));
  #held: { number: number; request: ObservationsRequest }[] = [];
  #next = 0;
  /** 1 at the numbers of acknowledged reports. */
  readonly acknowledged = new Uint8Array(DAY_SECONDS * PLAYERS);

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  /** The reports that arrive in a second; `bits` encodes the number. */
  reports(second: number): { number: number; request: ObservationsRequest }[] {
    for (const player of this.#players) {
      if (second >= player.untilSecond) {
        player.isHere = !player.isHere && this.#random() < 0.5 && !isDuring(CALM, second);
        player.untilSecond = second + 30 + Math.floor(this.#random() * 600);
      }
      if (!player.isHere || isDuring(CALM, second)) continue;
      const number = this.#next++;
      const endMs = this.#clock.utcMs();
      const observations = [{ kind: 'throughput' as const, startMs: endMs - 1000, endMs, bits: 1e7 + number }];
      this.#held.push({ number, request: { player: player.name, observations } });
    }
    return isDuring(PLAYERS_STALL, second) ? [] : this.#held.splice(0);
  }
}

async function post(url: string, request: ObservationsRequest): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', headers, body: JSON.stringify(request) };
  const response = await fetch(`${url}/v1/observations`, asked);
  return ((await response.json()) as { accepted: number }).accepted === 1;
}

/** The numbers of the recorded reports, and the number of lines by kind. */
function recorded(): { reports: number[]; kinds: Record<string, number> } {
  const reports: number[] = [];
  const kinds: Record<string, number> = {};
  for (const name of readdirSync(at()).filter((file) => file.endsWith('.jsonl'))) {
    for (const line of readFileSync(at(name), 'utf8').trimEnd().split('\n')) {
      const record = JSON.parse(line) as { kind: string; observations?: { bits: number }[] };
      kinds[record.kind] = (kinds[record.kind] ?? 0) + 1;
      if (record.observations !== undefined) reports.push(record.observations[0]!.bits - 1e7);
    }
  }
  return { reports, kinds };
}

/** Memory in use after garbage collection. */
async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Connections are finalized in the turns after a collection.
  for (let turn = 0; turn < 5; turn++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
