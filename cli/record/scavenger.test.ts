import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Traffic } from '../../service/api/wire.ts';
import { syntheticDish } from '../../service/fake-dish/simulated-dish.ts';
import { ManualClock } from '../../service/manual-clock.fixture.ts';
import { PredictionService } from '../../service/prediction-service.ts';
import { BUILT_IN_TRIGGERS } from '../../service/triggers/config.ts';
import { TriggerWatch } from '../../service/triggers/trigger-watch.ts';
import { Scavenger, type ScavengerOptions } from './scavenger.ts';

const RATE_BPS = 80e6;
const DAY_SECONDS = 86_400;

let clock: ManualClock;
let log: string[];
let isMeasuring: boolean;
let scavenger: Scavenger;
/** Bits of the measurement in the second that has just ended, as the dish counts them. */
let ownBits: number;

beforeEach(() => {
  clock = new ManualClock();
  log = [];
  isMeasuring = false;
  ownBits = 0;
});

function start(options: Partial<ScavengerOptions> = {}): void {
  scavenger = new Scavenger({
    clock,
    triggers: ['latency-spike', 'handover'],
    measureSeconds: 5,
    budgetBytes: 1e12,
    used: { day: '2026-01-01', bytes: 0 },
    begin(reason) {
      isMeasuring = true;
      log.push(reason);
    },
    end(cause, reactionMs) {
      isMeasuring = false;
      log.push(`${cause} ${reactionMs}`);
    },
    ...options,
  });
}

/** The service's events come 20 ms after they were sent, with a clock an hour ahead. */
const serverUtcMs = () => clock.utcMs() + 3_600_000 - 20;
const trigger = (name: string) => scavenger.trigger({ name, atMs: serverUtcMs() });
const traffic = (isWatched: boolean, second?: Omit<NonNullable<Traffic['second']>, 'atMs'>) =>
  scavenger.traffic({
    serverUtcMs: serverUtcMs(),
    isWatched,
    ...(second && { second: { atMs: serverUtcMs(), ...second } }),
  });

function receive(): void {
  if (!isMeasuring) return;
  ownBits += RATE_BPS / 10;
  scavenger.received(RATE_BPS / 80);
}

/** Each second, the dish shows the measurement with headers, and `othersBps` (null: nothing). */
function pass(seconds: number, othersBps: number | null = 3e5): void {
  for (let tenth = 1; tenth <= Math.round(seconds * 10); tenth++) {
    clock.advance(0.1);
    receive();
    scavenger.tick();
    if (tenth % 10 !== 0) continue;
    if (othersBps !== null) {
      traffic(false, { downlinkUsageBps: 1.06 * ownBits + othersBps, uplinkUsageBps: 0.03 * ownBits });
    }
    ownBits = 0;
  }
}

describe('a scavenger', () => {
  test('measures after a trigger, for its time, once the link was unused for 10 s', () => {
    start();
    pass(9);
    trigger('latency-spike');
    pass(3);
    trigger('drops');
    expect(log).toEqual([]);
    trigger('latency-spike');
    trigger('handover');
    expect(log).toEqual(['latency-spike']);
    pass(4.9);
    expect(isMeasuring).toBe(true);
    pass(0.1);
    expect(log).toEqual(['latency-spike', 'complete 0']);
  });

  test('gives way in the turn of the event: to a player, to other traffic, without news', () => {
    start();
    pass(12);
    trigger('latency-spike');
    pass(2);
    traffic(true);
    expect(log.at(-1)).toBe('player 0');

    pass(12);
    trigger('latency-spike');
    pass(2);
    scavenger.traffic({ serverUtcMs: serverUtcMs() - 30, isWatched: true });
    expect(log.at(-1)).toBe('player 30');

    pass(13);
    trigger('latency-spike');
    pass(1, 2e6);
    // A tenth of the own rate is not distinguishable from headers.
    expect(isMeasuring).toBe(true);
    pass(1, 12e6);
    expect(log.at(-1)).toBe('usage 0');

    pass(12);
    trigger('latency-spike');
    pass(3.9, null);
    expect(isMeasuring).toBe(true);
    pass(0.2, null);
    expect(log.at(-1)).toMatch(/^unknown/);

    pass(12);
    trigger('latency-spike');
    scavenger.lost();
    expect(log.at(-1)).toMatch(/^unknown/);
    // Nothing is known until the service is back for 10 s.
    trigger('latency-spike');
    expect(isMeasuring).toBe(false);
  });

  test.each([
    ['downlink', { downlinkUsageBps: 1.2e6 }],
    ['uplink', { downlinkUsageBps: 0, uplinkUsageBps: 1.2e6 }],
  ])('waits 10 s after traffic in the %s', (_, second) => {
    start();
    pass(12);
    traffic(false, second);
    pass(9);
    trigger('latency-spike');
    expect(log).toEqual([]);
    pass(1);
    trigger('latency-spike');
    expect(log).toEqual(['latency-spike']);
  });

  test('repeats a scheduled measurement that gave way, and keeps to the period', () => {
    start({ triggers: [], scheduleSeconds: 60 });
    pass(12);
    expect(log).toEqual(['schedule']);
    traffic(true);
    pass(30);
    expect(log).toEqual(['schedule', 'player 0', 'schedule', 'complete 0']);
    pass(17.9);
    expect(log).toHaveLength(4);
    pass(0.1);
    expect(log.at(-1)).toBe('schedule');
  });

  test('ignores triggers that come late', () => {
    start();
    pass(12);
    scavenger.trigger({ name: 'latency-spike', atMs: serverUtcMs() - 6000 });
    expect(log).toEqual([]);
    scavenger.trigger({ name: 'latency-spike', atMs: serverUtcMs() - 4000 });
    expect(log).toEqual(['latency-spike']);
  });

  test('never exceeds the budget of a day by more than a chunk, and begins nothing that would', () => {
    // 5 s at 10 MB/s.
    start({ budgetBytes: 130e6, used: { day: '2026-01-01', bytes: 10e6 } });
    pass(12);
    for (let i = 0; i < 5; i++) {
      trigger('latency-spike');
      pass(20);
    }
    expect(log).toEqual(['latency-spike', 'complete 0', 'latency-spike', 'complete 0']);
    expect(scavenger.used).toEqual({ day: '2026-01-01', bytes: 110e6 });
    clock.advance(DAY_SECONDS / 2);
    pass(12);
    expect(scavenger.used).toEqual({ day: '2026-01-02', bytes: 0 });
    trigger('latency-spike');
    expect(isMeasuring).toBe(true);
  });

  test('ends the first measurement at the budget', () => {
    start({ budgetBytes: 21e6 });
    pass(12);
    trigger('latency-spike');
    pass(3);
    expect(log).toEqual(['latency-spike', 'budget 0']);
    expect(scavenger.used.bytes).toBe(21e6);
  });

  test('spreads the handovers over the day, so that they use half of the budget', () => {
    // A measurement of 50 MB is a thousandth of a day's budget: the next one waits for 173 s.
    start({ budgetBytes: 50e9 });
    pass(12);
    trigger('handover');
    pass(5 + 172);
    trigger('handover');
    expect(log).toEqual(['handover', 'complete 0']);
    trigger('latency-spike');
    pass(5);
    expect(log).toHaveLength(4);
    trigger('handover');
    expect(log.at(-1)).toBe('handover');
  });
});

test('with the service and a simulated dish, a measurement ends before the reply to a player', () => {
  const service = new PredictionService({ clock, version: '0' });
  const script = syntheticDish({ seed: 6 });
  const watch = new TriggerWatch({
    triggers: BUILT_IN_TRIGGERS,
    session: service.session,
    isEpochDegraded: () => service.isEpochDegraded,
    onFired: (fired) => service.publish('trigger', fired),
  });
  service.listen({ telemetry: (second) => watch.telemetry(second), event: (type) => watch.event(type) });
  start({ measureSeconds: 1000 });
  service.listen({
    event(type, data) {
      if (type === 'traffic') scavenger.traffic(data as Traffic);
      if (type === 'trigger') scavenger.trigger(data as { name: string; atMs: number });
    },
  });
  let interrupted = 0;
  let measuredSeconds = 0;
  // The household of the simulated dish downloads in the first 40 s of each two minutes. A player comes at second 100.
  for (let tenth = 1; tenth <= 2700; tenth++) {
    clock.advance(0.1);
    service.tick();
    receive();
    scavenger.tick();
    if (tenth % 10 === 0) {
      watch.tick();
      const second = script.at(clock.utcMs());
      service.observeTelemetry({ ...second, downlinkUsageBps: second.downlinkUsageBps + ownBits });
      ownBits = 0;
    }
    const into = (clock.utcMs() / 1000) % 120;
    if (into >= 100 && into < 115 && tenth % 5 === 0) {
      if (isMeasuring) interrupted++;
      service.observe({ player: 'p', observations: [] });
      expect(isMeasuring).toBe(false);
    }
    if (!isMeasuring) continue;
    measuredSeconds += 0.1;
    expect(into < 2 || into >= 50).toBe(true);
  }
  expect(interrupted).toBeGreaterThanOrEqual(2);
  expect(log.filter((entry) => entry === 'player 0')).toHaveLength(interrupted);
  expect(measuredSeconds).toBeGreaterThan(50);
});
