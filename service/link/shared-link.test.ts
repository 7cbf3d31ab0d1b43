import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../../abr/forecast.ts';
import { type Reported, SharedLink } from './shared-link.ts';

function link(mostPlayers = 8) {
  const emitted: Observation[] = [];
  const link = new SharedLink({ mostPlayers, emit: (observation) => emitted.push(observation) });
  const shared = {
    link,
    report: (name: string, observations: readonly Reported[], nowSeconds: number, more: object = {}) =>
      link.report(name, observations, { nowSeconds, ...more }),
    advance: (nowSeconds: number) => link.advance(nowSeconds),
    share: (name: string) => link.share(name),
  };
  const bits = () => emitted.reduce((sum, one) => sum + (one.kind === 'throughput' ? one.bits : 0), 0);
  return { shared, emitted, bits };
}

const idle = (startSeconds: number, endSeconds: number) => ({ kind: 'idle', startSeconds, endSeconds }) as const;
const throughput = (startSeconds: number, endSeconds: number, bits: number) =>
  ({ kind: 'throughput', startSeconds, endSeconds, bits }) as const;

test('adds up their reports, in order of time', () => {
  const { shared, emitted, bits } = link();
  shared.report('a', [throughput(10, 10.5, 5e6)], 10.5);
  shared.report('b', [throughput(10.2, 10.5, 9e6)], 10.5);
  shared.advance(10.6);
  expect(bits()).toBeCloseTo(14e6, -1);
  const busy = emitted.filter((one) => one.kind === 'throughput');
  expect(busy).toHaveLength(5);
  expect(busy[0]).toMatchObject({ startSeconds: 10, bits: expect.closeTo(1e6, -1) });
  expect(busy[4]).toMatchObject({ bits: expect.closeTo(4e6, -1) });
});

test('accepts reports in its first second', () => {
  const { shared, emitted, bits } = link();
  shared.report('a', [throughput(-0.2, 0.1, 3e6), throughput(0.1, 0.3, 2e6)], 0.3);
  shared.advance(0.4);
  expect(bits()).toBeCloseTo(3e6, -1);
  for (const one of emitted) expect(one).toMatchObject({ startSeconds: expect.closeTo(0.1, 0), kind: 'throughput' });
});

test('waits briefly for a player that is downloading', () => {
  const { shared, bits } = link();
  shared.report('a', [throughput(10, 10.5, 5e6)], 10.5);
  shared.report('b', [throughput(9.5, 10, 0)], 10.5);
  shared.advance(10.6);
  expect(bits()).toBe(0);
  shared.advance(11.4);
  shared.advance(12.1);
  expect(bits()).toBeCloseTo(5e6, -1);
});

/** Largest age of the newest emitted bits in seconds, while `a` downloads and reports twice a second. */
function oldestNews(other: (shared: ReturnType<typeof link>['shared'], nowSeconds: number) => void) {
  const { shared, emitted } = link();
  let oldest = 0;
  for (let tenth = 100; tenth < 300; tenth++) {
    const now = tenth / 10;
    if (tenth % 5 === 0) shared.report('a', [throughput(now - 0.5, now, 5e6)], now);
    other(shared, now);
    shared.advance(now);
    const ends = emitted.map((one) => (one.kind === 'throughput' ? one.endSeconds : 0));
    if (tenth > 150) oldest = Math.max(oldest, now - Math.max(...ends));
  }
  return oldest;
}

test.each<[string, (shared: ReturnType<typeof link>['shared'], nowSeconds: number) => void]>([
  ['one player', () => {}],
  ['another that has paused', (shared, now) => now === 10 && shared.report('b', [throughput(9.9, 10, 1e6)], now)],
  ['another that reports pauses', (shared, now) => now % 2 === 0 && shared.report('b', [idle(now - 2, now)], now)],
  [
    'another that reports pauses less often',
    (shared, now) => now % 5 === 0 && shared.report('b', [idle(now - 1, now)], now),
  ],
])('emits a report at once: %s', (_, other) => {
  // The report interval less one bin; a full hold-back would be 1.5 s.
  expect(oldestNews(other)).toBeCloseTo(0.4, 1);
});

test('does not wait for a player that says that its download has ended', () => {
  const { shared, bits } = link();
  shared.report('a', [throughput(10, 10.5, 5e6)], 10.5);
  shared.report('b', [throughput(10, 10.2, 1e6)], 10.5);
  shared.advance(10.5);
  expect(bits()).toBeCloseTo(3e6, -1);
  expect(shared.report('b', [], 10.5, { isDownloading: false })).toEqual([]);
  shared.advance(10.5);
  expect(bits()).toBeCloseTo(6e6, -1);
});

/** `a` downloads 10 Mbit/s; `b` does from 11.9 and first reports its throughput at 12.4. */
function beginning(isAnnounced: boolean) {
  const { shared, emitted } = link();
  for (let tenth = 100; tenth <= 160; tenth++) {
    const now = tenth / 10;
    if (tenth % 5 === 0) shared.report('a', [throughput(now - 0.5, now, 5e6)], now);
    if (isAnnounced && tenth === 119) shared.report('b', [idle(11, 11.9)], now, { isDownloading: true });
    const begins = [119, 120, 121, 122, 123].map((at) => throughput(at / 10, (at + 1) / 10, 1e6));
    if (tenth === 124) expect(shared.report('b', begins, now)).toEqual(new Array(5).fill('accepted'));
    if (tenth > 124 && tenth % 5 === 4) shared.report('b', [throughput(now - 0.5, now, 5e6)], now);
    shared.advance(now);
  }
  const tenths = new Map(
    emitted.map((one) => [one.kind === 'throughput' ? Math.round(one.startSeconds * 10) : 0, one]),
  );
  const megabitsAt = (tenth: number) => Math.round((tenths.get(tenth) as { bits: number }).bits / 1e5) / 10;
  return { rates: [118, 119, 120, 123, 124, 125, 130].map(megabitsAt), share: shared.share('b') };
}

test('adds the bits of a player that announces its download in their time', () => {
  const { rates, share } = beginning(true);
  expect(rates).toEqual([1, 2, 2, 2, 2, 2, 2]);
  expect(share).toBeCloseTo(0.5, 6);
});

test('counts late bits for the share only: they change no other time', () => {
  const { rates, share } = beginning(false);
  expect(rates).toEqual([1, 1, 2, 2, 2, 2, 2]);
  expect(share).toBeCloseTo(0.5, 6);
});

test('gives a verdict on each observation', () => {
  const { shared } = link();
  shared.report('a', [throughput(10, 10.5, 5e6)], 10.5);
  shared.advance(14);
  const taken = shared.report(
    'a',
    [
      throughput(10, 10.5, 1),
      throughput(20, 21, 1),
      throughput(13.9, 13.8, 1),
      { kind: 'request-latency', atSeconds: 99, latencySeconds: 0.1 },
      throughput(13.5, 13.9, 1),
    ],
    14,
  );
  expect(taken).toEqual(['late', 'ahead', 'impossible', 'ahead', 'accepted']);
});

test('divides the link equally until shares are known', () => {
  const { shared } = link();
  expect(shared.share('a')).toBe(1);
  shared.report('a', [idle(9.5, 10)], 10);
  expect(shared.share('a')).toBe(1);
  shared.report('b', [idle(9.5, 10)], 10);
  expect(shared.share('a')).toBe(0.5);
  expect(shared.share('stranger')).toBeCloseTo(1 / 3);
  for (let s = 10; s < 14; s += 0.5) {
    shared.report('a', [throughput(s, s + 0.5, 3e6)], s + 0.5);
    shared.report('b', [throughput(s, s + 0.5, 1e6)], s + 0.5);
    shared.advance(s + 0.5);
  }
  expect(shared.share('a')).toBeCloseTo(0.75, 6);
  expect(shared.share('b')).toBeCloseTo(0.25, 6);
});

test('limits the number of players and forgets silent ones', () => {
  const { shared } = link(2);
  const heard = (name: string, atSeconds: number) => shared.report(name, [idle(atSeconds - 0.5, atSeconds)], atSeconds);
  heard('a', 10);
  heard('b', 10);
  expect(heard('c', 10)).toBeUndefined();
  expect(heard('b', 10)).toEqual(['accepted']);
  shared.advance(21);
  expect(shared.link.players).toBe(0);
  expect(heard('c', 21)).toEqual(['accepted']);
});

test('reports without accepted observations neither register nor keep a player', () => {
  const { shared } = link(1);
  expect(shared.report('a', [], 10)).toEqual([]);
  expect(shared.report('b', [idle(30, 31)], 10)).toEqual(['ahead']);
  expect(shared.link.players).toBe(0);
  expect(shared.report('c', [idle(9.5, 10)], 10)).toEqual(['accepted']);
  expect(shared.report('d', [], 10)).toEqual([]);
  for (const atSeconds of [15, 21]) shared.report('c', [], atSeconds);
  shared.advance(21);
  expect(shared.link.players).toBe(0);
});

test('resumes after the machine slept', () => {
  const { shared, bits } = link();
  shared.report('a', [throughput(10, 10.5, 5e6)], 10.5);
  shared.advance(10.6);
  shared.advance(5000);
  shared.report('a', [throughput(5000, 5000.5, 7e6)], 5000.5);
  shared.advance(5000.6);
  expect(bits()).toBeCloseTo(12e6, -1);
});

test('conserves bits and order for any reports of one player', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          gap: fc.integer({ min: 0, max: 900 }),
          length: fc.integer({ min: 1, max: 900 }),
          bits: fc.nat(1e8),
        }),
        {
          maxLength: 40,
        },
      ),
      (pieces) => {
        const { shared, emitted, bits } = link();
        let at = 3;
        let sent = 0;
        for (const piece of pieces) {
          const start = at + piece.gap / 1000;
          const end = start + piece.length / 1000;
          shared.advance(end);
          expect(shared.report('a', [throughput(start, end, piece.bits)], end)).toEqual(['accepted']);
          at = end;
          sent += piece.bits;
        }
        for (let rest = 0; rest < 30; rest++) shared.advance(at + rest / 10);
        expect(Math.abs(bits() - sent)).toBeLessThan(1 + sent * 1e-6);
        let last = 0;
        for (const one of emitted) {
          if (one.kind === 'request-latency') continue;
          expect(one.startSeconds).toBeGreaterThanOrEqual(last - 1e-9);
          last = one.startSeconds;
        }
      },
    ),
    { seed: 3, numRuns: 60 },
  );
});
