import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { normal, seededRandom } from '../abr/statistics/random.ts';
import { validForecast } from '../abr/valid-forecast.ts';
import type { WireObservation } from './api/wire.ts';
import { syntheticDish } from './fake-dish/simulated-dish.ts';
import { ManualClock } from './manual-clock.fixture.ts';
import { PredictionService } from './prediction-service.ts';

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
