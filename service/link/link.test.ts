import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation, QuantileForecast } from '../../abr/forecast.ts';
import { forAll } from '../../abr/property.fixture.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import type { Model } from '../../predictor/forecast/quantile-forecaster.ts';
import { SHIPPED_FILE } from '../../predictor/forecast/shipped-file.fixture.ts';
import { SessionClock } from '../clock.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { LinkForecaster } from './link-forecaster.ts';
import { PassiveCapacity } from './passive-capacity.ts';
import { SharedLink } from './shared-link.ts';

test('a second observed by the dish and a player counts once and does not set the forecast back', () => {
  const clock = new ManualClock();
  const forecaster = new LinkForecaster(new SessionClock(clock));
  const startMs = clock.utcMs();
  clock.advance(10);
  // The dish's usage of a second arrives at its end, before the player's tenths of it.
  forecaster.observe({ kind: 'throughput', startSeconds: 9, endSeconds: 10, bits: 50e6 });
  for (let tenth = 90; tenth < 103; tenth++) {
    if (tenth === 95) expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_000 });
    const startSeconds = tenth / 10;
    forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: 5e6 });
  }
  expect(forecaster.observedSeconds).toBeCloseTo(1.3, 6);
  clock.advance(0.3);
  expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_300 });
});

test('forecasts with another model, if it is given', () => {
  const quantilesOf = (model?: Model) => {
    const clock = new ManualClock();
    const forecaster = new LinkForecaster(new SessionClock(clock), model);
    clock.advance(10);
    forecaster.observe({ kind: 'throughput', startSeconds: 9, endSeconds: 10, bits: 50e6 });
    return (forecaster.latest() as QuantileForecast).quantilesBps;
  };
  const model = parseModel(SHIPPED_FILE);
  expect(quantilesOf(model)).toEqual(quantilesOf());
  const layers = model.layers.map((layer) => layer.map((row) => row.map((weight) => weight / 2)));
  expect(quantilesOf({ ...model, layers })).not.toEqual(quantilesOf());
});

test('counts seconds near the greatest usage, and none while players report', () => {
  const passive = new PassiveCapacity();
  const never = Number.NEGATIVE_INFINITY;
  expect(passive.observe(1, 1e6, never)).toEqual({ kind: 'idle', startSeconds: 0, endSeconds: 1 });
  expect(passive.observe(2, 90e6, never)).toMatchObject({ kind: 'throughput', bits: 90e6 });
  expect(passive.observe(3, 30e6, never)).toMatchObject({ kind: 'idle' });
  expect(passive.observe(4, 60e6, never)).toMatchObject({ kind: 'throughput', startSeconds: 3, endSeconds: 4 });
  expect(passive.observe(5, 95e6, 4.8)).toBeUndefined();
  // The maximum is forgotten after three minutes.
  expect(passive.observe(200, 30e6, never)).toMatchObject({ kind: 'throughput' });
});

function newLink(mostPlayers = 8) {
  const emitted: Observation[] = [];
  const link = new SharedLink({ mostPlayers, emit: (observation) => emitted.push(observation) });
  const report = (name: string, observations: readonly Observation[], nowSeconds: number, more: object = {}) =>
    link.report(name, observations, { nowSeconds, ...more });
  const bits = () => emitted.reduce((sum, one) => sum + (one.kind === 'throughput' ? one.bits : 0), 0);
  return { link, report, emitted, bits };
}

const idle = (startSeconds: number, endSeconds: number) => ({ kind: 'idle', startSeconds, endSeconds }) as const;
const throughput = (startSeconds: number, endSeconds: number, bits: number) =>
  ({ kind: 'throughput', startSeconds, endSeconds, bits }) as const;

test('adds up their reports, in order of time', () => {
  const { link, report, emitted, bits } = newLink();
  report('a', [throughput(10, 10.5, 5e6)], 10.5);
  report('b', [throughput(10.2, 10.5, 9e6)], 10.5);
  link.advance(10.6);
  expect(bits()).toBeCloseTo(14e6, -1);
  const busy = emitted.flatMap((one) => (one.kind === 'throughput' ? [one.startSeconds, one.bits] : []));
  expect(busy.slice(0, 2)).toEqual([10, expect.closeTo(1e6, -1)]);
  expect(busy.slice(9)).toEqual([expect.closeTo(4e6, -1)]);
  // The clocks of both players are ahead.
  for (const name of ['a', 'b']) report(name, [throughput(10.6, 10.9, 3e6)], 10.6);
  link.advance(10.6);
  expect(bits()).toBeCloseTo(14e6, -1);
});

test('accepts reports in its first second', () => {
  const { link, report, emitted, bits } = newLink();
  report('a', [throughput(-0.2, 0.1, 3e6), throughput(0.1, 0.3, 2e6)], 0.3);
  link.advance(0.4);
  expect(bits()).toBeCloseTo(3e6, -1);
  for (const one of emitted) expect(one).toMatchObject({ startSeconds: expect.closeTo(0.1, 0), kind: 'throughput' });
});

test('waits briefly for a player that is downloading, and not once it says that its download has ended', () => {
  const { link, report, bits } = newLink();
  report('a', [throughput(10, 10.5, 5e6)], 10.5);
  report('b', [throughput(9.5, 10, 0)], 10.5);
  link.advance(10.6);
  expect(bits()).toBe(0);
  link.advance(11.4);
  link.advance(12.1);
  expect(bits()).toBeCloseTo(5e6, -1);
  report('a', [throughput(15, 15.5, 5e6)], 15.5);
  report('b', [throughput(15, 15.2, 1e6)], 15.5);
  link.advance(15.5);
  expect(bits()).toBeCloseTo(8e6, -1);
  expect(report('b', [], 15.5, { isDownloading: false })).toEqual([]);
  link.advance(15.5);
  expect(bits()).toBeCloseTo(11e6, -1);
});

type Other = (report: ReturnType<typeof newLink>['report'], nowSeconds: number) => void;

/** Largest age of the newest emitted bits in seconds, while `a` downloads and reports twice a second. */
function oldestNews(other: Other) {
  const { link, report, emitted } = newLink();
  let oldest = 0;
  for (let tenth = 100; tenth < 300; tenth++) {
    const now = tenth / 10;
    if (tenth % 5 === 0) report('a', [throughput(now - 0.5, now, 5e6)], now);
    other(report, now);
    link.advance(now);
    const ends = emitted.map((one) => (one.kind === 'throughput' ? one.endSeconds : 0));
    if (tenth > 150) oldest = Math.max(oldest, now - Math.max(...ends));
  }
  return oldest;
}

test.each<[string, Other]>([
  ['one player', () => {}],
  ['another that has paused', (report, now) => now === 10 && report('b', [throughput(9.9, 10, 1e6)], now)],
  ['another that reports pauses', (report, now) => now % 2 === 0 && report('b', [idle(now - 2, now)], now)],
  ['another that reports pauses less often', (report, now) => now % 5 === 0 && report('b', [idle(now - 1, now)], now)],
])('emits a report at once: %s', (_, other) => {
  // The age is the report interval less a bin. With a full hold-back, it would be 1.5 s.
  expect(oldestNews(other)).toBeCloseTo(0.4, 1);
});

/** Player `a` downloads 10 Mbit/s. Player `b` does so from second 11.9 and first reports throughput at 12.4. */
function beginning(isAnnounced: boolean) {
  const { link, report, emitted } = newLink();
  for (let tenth = 100; tenth <= 160; tenth++) {
    const now = tenth / 10;
    if (tenth % 5 === 0) report('a', [throughput(now - 0.5, now, 5e6)], now);
    if (isAnnounced && tenth === 119) report('b', [idle(11, 11.9)], now, { isDownloading: true });
    const begins = [119, 120, 121, 122, 123].map((at) => throughput(at / 10, (at + 1) / 10, 1e6));
    if (tenth === 124) expect(report('b', begins, now)).toEqual(new Array(5).fill('accepted'));
    if (tenth > 124 && tenth % 5 === 4) report('b', [throughput(now - 0.5, now, 5e6)], now);
    link.advance(now);
  }
  const tenths = new Map(
    emitted.map((one) => [one.kind === 'throughput' ? Math.round(one.startSeconds * 10) : 0, one]),
  );
  const megabitsAt = (tenth: number) => Math.round((tenths.get(tenth) as { bits: number }).bits / 1e5) / 10;
  return { rates: [118, 119, 120, 123, 124, 125, 130].map(megabitsAt), share: link.share('b') };
}

test('adds the bits of an announced download in their time; late bits count for the share only', () => {
  expect(beginning(true)).toEqual({ rates: [1, 2, 2, 2, 2, 2, 2], share: expect.closeTo(0.5, 6) });
  expect(beginning(false)).toEqual({ rates: [1, 1, 2, 2, 2, 2, 2], share: expect.closeTo(0.5, 6) });
});

test('a report that is sent again does not raise the rate', () => {
  const { link, report, bits } = newLink();
  report('a', Array<Observation>(200).fill(throughput(10, 11, 4e6)), 11);
  link.advance(13);
  expect(bits()).toBeCloseTo(4e6, 0);
});

test('gives a verdict on each observation', () => {
  const { link, report } = newLink();
  report('a', [throughput(10, 10.5, 5e6)], 10.5);
  link.advance(14);
  const latency = (atSeconds: number) => ({ kind: 'request-latency', atSeconds, latencySeconds: 0.1 }) as const;
  const early = [throughput(10, 10.5, 1), throughput(20, 21, 1), throughput(13.9, 13.8, 1)];
  const rates = [3.9e10, 4.1e10].map((bits) => throughput(13.5, 13.9, bits));
  const taken = report('a', [...early, ...[99, 4.1, 3.9].map(latency), ...rates], 14);
  expect(taken).toEqual(['late', 'ahead', 'impossible', 'ahead', 'accepted', 'late', 'accepted', 'too-fast']);
});

test('divides the link equally until shares are known', () => {
  const { link, report } = newLink();
  expect(link.share('a')).toBe(1);
  report('a', [idle(9.5, 10)], 10);
  expect(link.share('a')).toBe(1);
  report('b', [idle(9.5, 10)], 10);
  expect(link.share('a')).toBe(0.5);
  expect(link.share('stranger')).toBeCloseTo(1 / 3);
  for (let s = 10; s < 14; s += 0.5) {
    report('a', [throughput(s, s + 0.5, 3e6)], s + 0.5);
    report('b', [throughput(s, s + 0.5, 1e6)], s + 0.5);
    link.advance(s + 0.5);
  }
  expect(link.share('a')).toBeCloseTo(0.75, 6);
  expect(link.share('b')).toBeCloseTo(0.25, 6);
});

test('limits the number of players; reports without accepted observations neither register nor keep a player', () => {
  const { link, report } = newLink(1);
  expect(report('a', [], 10)).toEqual([]);
  expect(report('b', [idle(30, 31)], 10)).toEqual(['ahead']);
  expect(link.players).toBe(0);
  expect(report('c', [idle(9.5, 10)], 10)).toEqual(['accepted']);
  expect(report('d', [], 10)).toEqual([]);
  expect(report('d', [idle(9.5, 10)], 10)).toBeUndefined();
  for (const atSeconds of [15, 21]) report('c', [], atSeconds);
  link.advance(21);
  expect(link.players).toBe(0);
  expect(report('d', [idle(20.5, 21)], 21)).toEqual(['accepted']);
});

test('resumes after the machine slept, whose time is unknown', () => {
  const { link, report, emitted, bits } = newLink();
  report('a', [throughput(10, 10.5, 5e6)], 10.5);
  link.advance(10.6);
  link.advance(5000);
  report('a', [throughput(5000, 5000.5, 7e6)], 5000.5);
  link.advance(5000.6);
  expect(bits()).toBeCloseTo(12e6, -1);
  expect(emitted.filter(({ kind }) => kind === 'idle').length).toBeLessThan(30);
});

test('conserves bits and order for any reports of one player', () => {
  const millis = (min: number) => fc.integer({ min, max: 900 });
  const piece = fc.record({ gap: millis(0), length: millis(1), bits: fc.nat(1e8) });
  forAll([fc.array(piece, { maxLength: 40 })], { seed: 3, numRuns: 60 }, (pieces) => {
    const { link, report, emitted, bits } = newLink();
    let at = 3;
    let sent = 0;
    for (const piece of pieces) {
      const start = at + piece.gap / 1000;
      const end = start + piece.length / 1000;
      link.advance(end);
      expect(report('a', [throughput(start, end, piece.bits)], end)).toEqual(['accepted']);
      at = end;
      sent += piece.bits;
    }
    for (let rest = 0; rest < 30; rest++) link.advance(at + rest / 10);
    expect(Math.abs(bits() - sent)).toBeLessThan(1 + sent * 1e-6);
    let last = 0;
    for (const one of emitted) {
      if (one.kind === 'request-latency') continue;
      expect(one.startSeconds).toBeGreaterThanOrEqual(last - 1e-9);
      last = one.startSeconds;
    }
  });
});
