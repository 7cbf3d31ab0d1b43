import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { seededRandom } from '../../abr/statistics/random.ts';
import { type FakeDishOptions, startFakeDish } from '../fake-dish/fake-dish.fixture.ts';
import { type DishScript, syntheticDish } from '../fake-dish/simulated-dish.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { closedAfterTest } from '../opened.fixture.ts';
import { Problems } from '../problems.ts';
import type { TelemetrySecond } from '../telemetry.ts';
import type { RawResponse } from './device-api.ts';
import { DishMonitor } from './dish-monitor.ts';
import { readHistory, readLocation, readStatus } from './read-answers.ts';

async function watch(options: Partial<FakeDishOptions> = {}, deadlineMs = 60_000) {
  const clock = new ManualClock();
  const script = syntheticDish({ seed: 2 });
  const dish = closedAfterTest(await startFakeDish({ clock, script, ...options }));
  const problems = new Problems(clock);
  const seconds: TelemetrySecond[] = [];
  const states: string[] = [];
  const watching: DishMonitor = new DishMonitor({
    ...{ address: dish.address, clock, problems, deadlineMs },
    onSecond: (second) => seconds.push(second),
    onStateChange: () => states.push(watching.reply().state),
  });
  closedAfterTest(watching);
  const pollAfter = (secondsLater: number) => {
    clock.advance(secondsLater);
    return watching.poll();
  };
  return { watching, problems, seconds, states, clock, dish, script, pollAfter };
}

/** As `watch`, after the first answer and without its seconds. */
async function online(options: Partial<FakeDishOptions> = {}) {
  const seen = await watch(options);
  await seen.watching.poll();
  seen.seconds.length = 0;
  return seen;
}

/** The usage of a second encodes its number, and every seventh second has a latency spike. */
const NUMBERED: DishScript = {
  at(atMs) {
    const number = (atMs / 1000) % 100_000;
    const latencyMs = number % 7 === 0 ? 300 : 30;
    return { atMs, latencyMs, dropRate: 0, downlinkUsageBps: number * 1000, uplinkUsageBps: 0, obstructed: false };
  },
};

test('reads the location, and fills gaps from the history, once and in order', async () => {
  const location = { latitudeDegrees: 48.1, longitudeDegrees: 11.6 };
  const { watching, seconds, script, pollAfter } = await watch({ location });
  await watching.poll();
  expect(watching.location).toEqual(location);
  expect(seconds).toHaveLength(900);
  for (let i = 0; i < 3; i++) await pollAfter(1);
  await pollAfter(20);
  expect(seconds).toHaveLength(923);
  // After each of the two gaps, the newest five seconds are not marked as history.
  expect(seconds.filter((second) => second.fromHistory !== true)).toHaveLength(5 + 2 * 5);
  const start = seconds[0]!.atMs;
  seconds.forEach((second, i) => {
    expect(second.atMs).toBe(start + i * 1000);
    const { latencyMs, dropRate } = script.at(second.atMs);
    expect(second.dropRate).toBeCloseTo(dropRate, 5);
    expect(second.latencyMs).toEqual(latencyMs && expect.closeTo(latencyMs, 3));
  });
});

test('reports each second once, even if polls and answers are late', async () => {
  const { clock, dish, seconds, pollAfter } = await online({ script: NUMBERED });
  const random = seededRandom(4);
  // The timer is late, too, and the host freezes once.
  const lateSeconds = () => (random() < 0.4 ? 0.75 * random() : 0);
  const change = (response: RawResponse) => {
    clock.advance(lateSeconds());
    return response;
  };
  dish.misbehave({ change });
  for (let poll = 0; poll < 80; poll++) {
    await pollAfter(poll === 40 ? 7.3 : 1.0001 - ((clock.monotonicMs() / 1000) % 1) + lateSeconds());
  }
  const numbers = seconds.map(({ downlinkUsageBps }) => downlinkUsageBps! / 1000);
  expect(numbers.length).toBeGreaterThan(80);
  expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i));
  const slow = seconds.filter(({ latencyMs }) => latencyMs! > 200);
  expect(slow.map(({ downlinkUsageBps }) => downlinkUsageBps! / 1000)).toEqual(numbers.filter((n) => n % 7 === 0));
  const gapsMs = seconds.slice(1).map(({ atMs }, i) => atMs - seconds[i]!.atMs);
  expect(gapsMs.filter((ms) => Math.abs(ms - 1000) > 10)).toEqual([]);
  expect(Math.abs(seconds.at(-1)!.atMs - clock.utcMs())).toBeLessThan(2500);
});

test('the times of seconds follow a counter that lags by at most 0.1 s a poll', async () => {
  const { dish, seconds, pollAfter } = await online({ script: NUMBERED });
  await pollAfter(1);
  const change = ({ dish_get_history: history, ...rest }: RawResponse) =>
    history ? { dish_get_history: { ...history, current: Number(history['current']) - 1 } } : rest;
  dish.misbehave({ change });
  await pollAfter(2.5);
  expect(seconds).toHaveLength(2);
  expect(seconds[1]!.atMs - seconds[0]!.atMs).toBe(1100);
});

test('loses no second if some histories are missing, and reports the status alone without a history', async () => {
  const { dish, seconds, pollAfter } = await online({ script: NUMBERED });
  const without = ({ dish_get_history, ...response }: RawResponse) => response;
  for (let poll = 0; poll < 12; poll++) {
    dish.misbehave(poll % 3 === 0 ? {} : { change: without });
    await pollAfter(1);
  }
  dish.misbehave({});
  await pollAfter(1);
  expect(seconds).toHaveLength(13);
  dish.misbehave({ change: without });
  for (let poll = 0; poll < 6; poll++) await pollAfter(1);
  expect(seconds).toHaveLength(17);
  dish.misbehave({});
  await pollAfter(1);
  expect(seconds).toHaveLength(18);
});

test('reports the seconds after a reboot, and none twice while the counter does not change', async () => {
  const { clock, dish, seconds, pollAfter } = await online({ script: NUMBERED });
  clock.advance(2);
  dish.reboot();
  await pollAfter(5);
  expect(seconds).toHaveLength(5);
  let stopped: RawResponse | undefined;
  const change = (response: RawResponse) => {
    if (response.dish_get_history !== undefined) stopped ??= response;
    return response.dish_get_history === undefined ? response : stopped;
  };
  dish.misbehave({ change });
  for (let poll = 0; poll < 20; poll++) await pollAfter(1);
  expect(seconds).toHaveLength(6);
});

test.each([
  ['SLEEPING', 'asleep'],
  ['STOWED', 'asleep'],
  ['OBSTRUCTED', 'obstructed'],
  ['BOOTING', 'rebooting'],
  ['NO_SATS', 'outage'],
  ['SKY_SEARCH', 'outage'],
] as const)('the outage %s is the state %s', async (outage, state) => {
  const { watching, dish, states, pollAfter } = await online();
  dish.misbehave({ outage });
  await pollAfter(1);
  expect(watching.reply()).toMatchObject({ state, detail: outage.toLowerCase().replace('_', ' ') });
  dish.misbehave({});
  await pollAfter(1);
  expect(states).toEqual(['online', state, 'online']);
  expect(watching.reply().detail).toBeUndefined();
});

test('a dish is unreachable after three failures, polled with backoff, and found again', async () => {
  const { watching, dish, clock, problems, states, pollAfter } = await online();
  dish.misbehave({ failWith: status.UNAVAILABLE });
  for (let i = 0; i < 3; i++) {
    clock.advance(1);
    expect(watching.reply().state).toBe('online');
    await watching.poll();
  }
  const detail = 'nothing answers there (requested failure)';
  expect(watching.reply()).toMatchObject({ state: 'unreachable', detail });
  expect(watching.reply().latencyMs).toBeUndefined();
  expect(problems.list()).toMatchObject([{ part: 'dish', code: 'unreachable', count: 1 }]);
  const asked: number[] = [];
  for (let second = 0; second < 120; second++) {
    clock.advance(1);
    const { count } = problems.list()[0]!;
    await watching.poll();
    if (problems.list()[0]!.count > count) asked.push(second);
  }
  expect(asked.length).toBeLessThan(10);
  expect(Math.max(...asked.slice(1).map((at, i) => at - asked[i]!))).toBeLessThanOrEqual(31);
  clock.leap(3600);
  expect(clock.utcMs() - watching.reply().lastAnswerMs!).toBe(123_000);
  dish.misbehave({});
  await pollAfter(31);
  expect(states).toEqual(['online', 'unreachable', 'online']);
  expect(problems.list()).toEqual([]);
});

test('polls a slow dish once at a time and ignores its late answers', async () => {
  const { watching, dish, seconds } = await watch({}, 30);
  dish.misbehave({ delayMs: 80 });
  await Promise.all([watching.poll(), watching.poll(), watching.poll()]);
  for (let i = 0; i < 2; i++) await watching.poll();
  expect(watching.reply()).toMatchObject({ state: 'unreachable', detail: 'no answer within 0.03 s' });
  expect(seconds).toEqual([]);
});

test('truncated and garbled answers neither crash it nor stop it', async () => {
  const { watching, dish, pollAfter } = await watch();
  const garble = seededRandom(5);
  for (let part = 0; part < 1; part += 0.04) {
    dish.misbehave({ cutTo: part });
    await pollAfter(60);
    dish.misbehave({ garble });
    await pollAfter(60);
  }
  dish.misbehave({});
  await pollAfter(60);
  expect(watching.reply()).toMatchObject({ state: 'online', software: '2026.06.fake' });
});

test('a step of the system clock neither adds nor loses seconds', async () => {
  const { clock, seconds, pollAfter } = await online();
  for (const [i, leap] of [3600, -7200].entries()) {
    clock.leap(leap);
    for (let poll = 0; poll < 2; poll++) await pollAfter(1);
    expect(seconds).toHaveLength(2 * (i + 1));
  }
});

test('an absent number is zero, because protocol buffers omit zeros; other absent values are unknown', () => {
  const reading = readStatus({}, 5)!;
  expect(reading.second).toEqual({ atMs: 5, dropRate: 0, downlinkUsageBps: 0, uplinkUsageBps: 0, obstructed: false });
  expect(reading.uptimeSeconds).toBeUndefined();
  expect(readStatus({ device_state: {} }, 5)!.uptimeSeconds).toBe(0);
  // Absent coordinates are the equator and Greenwich.
  expect(readLocation({ lla: { lon: 9.4 } })).toEqual({ latitudeDegrees: 0, longitudeDegrees: 9.4 });
  expect(readLocation({ lla: { lat: 51.5 } })).toEqual({ latitudeDegrees: 51.5, longitudeDegrees: 0 });
  for (const nothing of [{}, { lla: {} }, { lla: { lat: 91 } }]) expect(readLocation(nothing)).toBeUndefined();
  const lost = [-1, 0].map((pop_ping_latency_ms) => readStatus({ pop_ping_latency_ms }, 5)!.second.latencyMs);
  expect(lost).toEqual([undefined, undefined]);
});

test('omits values of the wrong type or range', () => {
  const reading = readStatus(
    {
      pop_ping_drop_rate: 7,
      pop_ping_latency_ms: Number.NaN,
      downlink_throughput_bps: '5',
      uplink_throughput_bps: -1,
      obstruction_stats: { currently_obstructed: 'yes', fraction_obstructed: Number.POSITIVE_INFINITY },
      device_info: { hardware_version: '\u0000evil', software_version: 5 },
      device_state: { uptime_s: {} },
      outage: { cause: 'SOMETHING_NEW' },
    },
    5,
  )!;
  // All other fields are unknown.
  expect(reading).toEqual({ second: { atMs: 5, obstructed: false }, outage: 'UNKNOWN' });
});

test.each([
  ['is not full yet', [11, 12, 13, ...new Array<number>(897).fill(0)], 1, [11, 12, 13]],
  ['has wrapped around', [6, 7, 3, 4, 5], 3, [3, 4, 5, 6, 7]],
])('reads a ring buffer that %s', (_, pop_ping_latency_ms, oldest, expected) => {
  const current = oldest + expected.length - 1;
  const history = readHistory({ current, pop_ping_latency_ms })!;
  expect(history).toMatchObject({ current, oldest });
  expect(expected.map((_, i) => history.second(oldest + i).latencyMs)).toEqual(expected);
});

test('never throws', () => {
  const anything = fc.anything({ maxDepth: 3 });
  const fields = ['pop_ping_drop_rate', 'pop_ping_latency_ms', 'obstruction_stats', 'device_info', 'device_state'];
  const entries = [...fields, 'outage', 'current', 'lla'].map((name) => [name, anything]);
  const statusOfAnything = fc.record(Object.fromEntries(entries), { requiredKeys: [] });
  forAll([fc.oneof(anything, statusOfAnything)], { seed: 11, numRuns: 500 }, (raw) => {
    const { second } = readStatus(raw, 0) ?? {};
    if (second?.latencyMs !== undefined) expect(second.latencyMs).toBeGreaterThan(0);
    if (second?.dropRate !== undefined) expect(second.dropRate >= 0 && second.dropRate <= 1).toBe(true);
    const history = readHistory(raw);
    for (const number of [history?.oldest, history?.current]) if (number !== undefined) history!.second(number);
    readLocation(raw);
  });
});

test('limits the usage to the capacity of a trace, in phase', () => {
  const startUtcMs = Date.UTC(2026, 0, 1, 12, 0, 12);
  const steps = { wrapSeconds: 30, stepEndsSeconds: [15, 30], ratesBps: [2e7, 9e7], rttSeconds: [0.05, 0.03] };
  const capacity = { startUtcMs, ...steps };
  const dish = syntheticDish({ seed: 5, capacity });
  for (const [seconds, rate, latency] of [
    [1, 2e7, 50],
    [16, 9e7, 30],
    [31, 2e7, 50],
    [-14, 9e7, 30],
  ] as const) {
    const second = dish.at(startUtcMs + seconds * 1000);
    expect(second.downlinkUsageBps).toBeLessThanOrEqual(rate);
    if (!second.obstructed) expect(second.latencyMs).toBe(latency);
  }
});
