import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Observation, SILENCE_SECONDS } from '../../abr/forecast.ts';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { anyObservation, anySession, runningSums } from '../../abr/random-states.fixture.ts';
import { FEATURES } from './features.ts';
import { throughput } from './handover-clock/links.fixture.ts';
import { LinkHistory } from './link-history.ts';
import { ObservationMeter, type ThroughputPiece } from './observation-meter.ts';

function recorded(feed: (meter: ObservationMeter, seen: Observation[]) => void): Observation[] {
  const observations: Observation[] = [];
  feed(new ObservationMeter((observation) => observations.push(observation)), observations);
  return observations;
}

type Part = readonly [at: number, bits: number];

/** A download that ends with its last part. */
function download(meter: ObservationMeter, sentAt: number, firstByteAt: number, parts: readonly Part[]): void {
  const request = meter.requestSent(sentAt);
  meter.firstByte(request, firstByteAt);
  for (const [at, bits] of parts) meter.received(request, at, bits);
  meter.requestEnded(request, parts.at(-1)![0]);
}

const isThroughput = (one: Observation): one is ThroughputPiece => one.kind === 'throughput';
const bitsOf = (seen: readonly Observation[]) => seen.filter(isThroughput).reduce((sum, { bits }) => sum + bits, 0);

test('emits idle time, latency, and throughput in tenths of a second; a short wait is neither', () => {
  const seen = recorded((meter) => {
    download(meter, 0.25, 0.45, [[0.75, 3e6]]);
    meter.requestSent(2);
  });
  expect(seen[0]).toEqual({ kind: 'idle', startSeconds: 0, endSeconds: 0.25 });
  expect(seen[1]).toMatchObject({ kind: 'request-latency', atSeconds: 0.45, latencySeconds: 0.2 });
  const ends = [0.45, 0.5, 0.6, 0.7, 0.75];
  for (let i = 0; i < 4; i++) {
    const [startSeconds, endSeconds] = [ends[i]!, ends[i + 1]!];
    const bits = expect.closeTo(1e7 * (endSeconds - startSeconds));
    expect(seen[2 + i]).toEqual({ kind: 'throughput', startSeconds, endSeconds, bits });
  }
  expect(seen.slice(6)).toEqual([{ kind: 'idle', startSeconds: 0.75, endSeconds: 2 }]);
});

test('an outage in a download is emitted while it lasts, as soon as no progress can be reported for it', () => {
  recorded((meter, seen) => {
    const request = meter.requestSent(0);
    meter.firstByte(request, 0.02);
    meter.received(request, 1, 1e6);
    expect(bitsOf(seen)).toBeCloseTo(1e6);
    const before = seen.length;
    meter.advance(1.1);
    expect(seen).toHaveLength(before);
    meter.advance(3.16);
    expect(seen.at(-1)).toEqual({ kind: 'throughput', startSeconds: 2.9, endSeconds: 3, bits: 0 });
    meter.received(request, 3.2, 7);
    expect(bitsOf(seen)).toBeLessThanOrEqual(1e6 + 7);
  });
});

test('a request without response is an outage as soon as it is overdue, and has a latency in the end', () => {
  const seen = recorded((meter, seen) => {
    const request = meter.requestSent(1);
    meter.advance(1 + SILENCE_SECONDS);
    expect(seen.filter(isThroughput)).toEqual([]);
    meter.advance(1.55);
    expect(seen.at(-1)).toEqual({ kind: 'throughput', startSeconds: 1.4, endSeconds: 1.5, bits: 0 });
    meter.firstByte(request, 4);
    meter.received(request, 4.5, 5e6);
    meter.requestEnded(request, 4.5);
  });
  const pieces = seen.filter(isThroughput);
  expect(pieces[0]!.startSeconds).toBeCloseTo(1 + SILENCE_SECONDS);
  const silent = pieces.filter(({ endSeconds }) => endSeconds <= 4);
  expect(silent.reduce((sum, { startSeconds, endSeconds }) => sum + endSeconds - startSeconds, 0)).toBeCloseTo(2.7);
  expect(bitsOf(silent)).toBe(0);
  expect(bitsOf(seen)).toBeCloseTo(5e6);
  expect(seen).toContainEqual({ kind: 'request-latency', atSeconds: 4, latencySeconds: 3 });
});

test('the silence before an abort remains; the next request waits anew', () => {
  const seen = recorded((meter) => {
    meter.requestEnded(meter.requestSent(0), 1);
    download(meter, 1, 1.25, [[1.3, 1e5]]);
  });
  const pieces = seen.filter(isThroughput);
  expect(pieces.find(({ endSeconds }) => endSeconds === 1)).toMatchObject({ bits: 0 });
  expect(pieces.filter(({ startSeconds }) => startSeconds >= 1)).toEqual([
    { kind: 'throughput', startSeconds: 1.25, endSeconds: 1.3, bits: 1e5 },
  ]);
  expect(seen.filter(({ kind }) => kind === 'idle')).toEqual([]);
});

test('concurrent requests share the time and add up their bits', () => {
  const seen = recorded((meter) => {
    const [one, other] = [meter.requestSent(0), meter.requestSent(0)];
    meter.firstByte(one, 0.1);
    meter.firstByte(other, 0.2);
    for (const now of [0.2, 0.3, 0.4, 0.5]) {
      meter.received(one, now, 1e6);
      if (now > 0.2) meter.received(other, now, 1e6);
    }
    meter.requestEnded(one, 0.5);
    meter.requestEnded(other, 0.5);
    meter.advance(1);
  });
  const busy = seen.filter(isThroughput);
  expect([busy[0]!.startSeconds, busy.at(-1)!.endSeconds]).toEqual([0.1, 0.5]);
  expect(busy.map(({ bits }) => Math.round(bits))).toEqual([1e6, 2e6, 2e6, 2e6]);
});

test('a request that is complete at its first byte gives neither latency nor throughput', () => {
  const seen = recorded((meter) => {
    const request = meter.requestSent(0.2);
    meter.firstByte(request, 0.25);
    meter.requestEnded(request, 0.253, { isUnknown: true });
    meter.advance(1);
  });
  expect(seen).toEqual([{ kind: 'idle', startSeconds: 0, endSeconds: 0.2 }]);
  // Another active request keeps its bits.
  const others = recorded((meter) => {
    const video = meter.requestSent(0);
    meter.firstByte(video, 0.05);
    const audio = meter.requestSent(0.05);
    meter.firstByte(audio, 0.07);
    meter.received(video, 0.08, 1e6);
    meter.requestEnded(audio, 0.081, { isUnknown: true });
    meter.requestEnded(video, 0.1);
    meter.advance(1);
  });
  expect(bitsOf(others)).toBeCloseTo(1e6);
});

test('a response that a cache may have sent leaves nothing, also across a tenth of a second', () => {
  const seen = recorded((meter) => {
    const cached = meter.requestSent(0.15);
    meter.firstByte(cached, 0.19);
    for (const atSeconds of [0.195, 0.205, 0.21]) meter.received(cached, atSeconds, 1e6);
    meter.requestEnded(cached, 0.21, { isUnknown: true });
    const video = meter.requestSent(1);
    meter.firstByte(video, 1.05);
    const audio = meter.requestSent(1.15);
    meter.firstByte(audio, 1.16);
    meter.received(audio, 1.17, 9e6);
    meter.received(video, 1.17, 2e6);
    meter.requestEnded(audio, 1.17, { isUnknown: true });
    meter.received(video, 1.55, 1e6);
    meter.requestEnded(video, 1.55);
    meter.advance(3);
  });
  expect(
    seen.filter((one) => one.kind !== 'idle' && ('atSeconds' in one ? one.atSeconds : one.endSeconds) < 1),
  ).toEqual([]);
  // The video loses a hundredth of a second.
  expect(bitsOf(seen)).toBeGreaterThan(2.8e6);
  expect(bitsOf(seen)).toBeLessThanOrEqual(3e6);
  // Audio and video from a cache at the same time.
  const both = recorded((meter) => {
    const [audio, video] = [meter.requestSent(1), meter.requestSent(1.001)];
    meter.firstByte(audio, 1.003);
    meter.firstByte(video, 1.005);
    meter.received(audio, 1.012, 1e5);
    meter.received(video, 1.012, 5e5);
    meter.requestEnded(audio, 1.013, { isUnknown: true });
    meter.received(video, 1.02, 5e5);
    meter.requestEnded(video, 1.02, { isUnknown: true });
    meter.advance(3);
  });
  expect(both.filter(({ kind }) => kind !== 'idle')).toEqual([]);
});

test('pieces are emitted once all requests have reported, or none for some time', () => {
  recorded((meter, seen) => {
    const video = meter.requestSent(0);
    const audio = meter.requestSent(0);
    meter.firstByte(video, 0.05);
    meter.firstByte(audio, 0.05);
    meter.received(video, 0.22, 1e6);
    expect(seen.filter(isThroughput)).toEqual([]);
    meter.received(audio, 0.23, 1e5);
    expect(seen.filter(isThroughput).map(({ endSeconds }) => endSeconds)).toEqual([0.1, 0.2]);
    // The audio could still have reported bits until now.
    meter.received(video, 0.46, 1e6);
    expect(seen.at(-1)).toMatchObject({ endSeconds: 0.3 });
  });
});

test('law: observations are in order, within a tenth of a second, without overlap, with received bits only', () => {
  const step = fc.record({
    waitSeconds: fc.oneof(fc.constant(0), between(0, 0.4), between(0, 3)),
    what: fc.constantFrom('send', 'begin', 'progress', 'end', 'tick'),
    of: fc.nat(3),
    bits: whole(0, 1e7),
  });
  forAll([fc.array(step, { maxLength: 60 })], { seed: 1, numRuns: 1000 }, (steps) => {
    let sent = 0;
    let now = 0;
    const seen = recorded((meter) => {
      const requests: object[] = [];
      const begun = new Set<object>();
      for (const { waitSeconds, what, of, bits } of steps) {
        now += waitSeconds;
        const request = requests[of % Math.max(1, requests.length)];
        const hasBegun = request !== undefined && begun.has(request);
        if (what === 'send') requests.push(meter.requestSent(now));
        else if (what === 'begin' && request && !hasBegun) {
          begun.add(request);
          meter.firstByte(request, now);
        } else if (what === 'progress' && request && hasBegun) {
          meter.received(request, now, bits);
          sent += bits;
        } else if (what === 'end' && request) {
          meter.requestEnded(request, now);
          requests.splice(requests.indexOf(request), 1);
        } else meter.advance(now);
      }
      for (const request of requests) meter.requestEnded(request, now);
      meter.requestSent(now + 1);
    });
    let end = 0;
    const isRight = (one: Observation) => {
      const isLatency = one.kind === 'request-latency';
      const [from, to] = isLatency ? [one.atSeconds, one.atSeconds] : [one.startSeconds, one.endSeconds];
      const isInOrder = from >= end && (isLatency ? one.latencySeconds >= 0 : to > from);
      end = to;
      return isInOrder && (!isThroughput(one) || (to - from < 0.1 + 1e-6 && one.bits >= 0));
    };
    expect(seen.filter((one) => !isRight(one))).toEqual([]);
    expect(end).toBeCloseTo(now + 1);
    expect(bitsOf(seen)).toBeLessThanOrEqual(sent * (1 + 1e-9));
  });
});

test('emits all bits of long downloads', () => {
  const anyPieces = fc.array(fc.tuple(between(0.05, 3), whole(1, 1e7)), { minLength: 1, maxLength: 20 });
  forAll([anyPieces], { seed: 2, numRuns: 300 }, (pieces) => {
    const [firstByteAt, ...ends] = runningSums([0.02, ...pieces.map(([seconds]) => seconds)]);
    const parts = pieces.map(([, bits], i): Part => [ends[i]!, bits]);
    const seen = recorded((meter) => download(meter, 0, firstByteAt!, parts));
    const sent = pieces.reduce((sum, [, bits]) => sum + bits, 0);
    expect(Math.abs(bitsOf(seen) - sent)).toBeLessThan(1e-6 * sent);
  });
});

const index = (name: string) => FEATURES.findIndex((feature) => feature.name === name);

/** A history of pieces of a tenth of a second. */
function historyOf(seconds: number, rateAt: (second: number) => number): LinkHistory {
  const history = new LinkHistory();
  for (let n = 0; n < seconds * 10; n++) history.observe(throughput(n / 10, (n + 1) / 10, rateAt(n / 10)));
  return history;
}

/** Undefined without observations. */
function featuresOf(history: LinkHistory, nowSeconds: number): Float64Array | undefined {
  const features = new Float64Array(FEATURES.length);
  return history.writeFeatures(nowSeconds, features) ? features : undefined;
}

/** All features except this one are close. */
function expectClose(actual: Float64Array | undefined, expected: typeof actual, digits: number, except?: string): void {
  FEATURES.forEach(({ name }, i) => {
    if (name !== except) expect(actual![i]).toBeCloseTo(expected![i]!, digits);
  });
}

test('has no features before the first bits', () => {
  const history = new LinkHistory();
  for (const nowSeconds of [0, 3]) {
    expect([history.referenceBps(), featuresOf(history, nowSeconds)]).toEqual([undefined, undefined]);
    history.observe(throughput(0, 3, 0));
  }
});

test('a constant link is its own reference, has no spread, and no observation of an earlier time counts', () => {
  const history = historyOf(60, () => 5e6);
  expect(history.observe(throughput(5, 6, 9e9))).toBe(false);
  expect(history.referenceBps()).toBeCloseTo(5e6, 3);
  expectClose(featuresOf(history, 60), new Float64Array(FEATURES.length), 6, 'observed');
});

test('sees extremes and spread of its windows only', () => {
  // The link varies from 20 to 44 s, and is steady in the last 16 s.
  const history = historyOf(60, (second) => (second < 20 || second >= 44 ? 6e6 : second % 2 < 1 ? 3e6 : 9e6));
  const features = featuresOf(history, 60)!;
  const reference = history.referenceBps()!;
  const of = (name: string) => features[index(name)]!;
  expect(of('spread-15s')).toBeCloseTo(0, 6);
  expect(of('spread-90s')).toBeGreaterThan(0.2);
  expect(of('lowest-10s')).toBeCloseTo(Math.min(0, Math.log(6e6 / reference)), 6);
  expect(of('lowest-40s')).toBeCloseTo(Math.log(3e6 / reference), 6);
  expect(of('highest-40s')).toBeCloseTo(Math.log(9e6 / reference), 6);
});

test('sees an outage grow', () => {
  const history = historyOf(20, (second) => (second < 18 ? 8e6 : 0));
  const features = featuresOf(history, 21)!;
  expect(features[index('silence')]).toBeCloseTo(2 / 3, 6);
  expect(features[index('unseen')]).toBeCloseTo(1 / 4, 6);
  expect(features[index('level-0.4s')]).toBeCloseTo(Math.log(0.01), 6);
});

test('does not depend on the lengths of observations', () => {
  const rates = [4e6, 9e6, 1e6, 6e6, 3e6, 8e6];
  const cutIn = (pieces: number) => {
    const history = new LinkHistory();
    for (let n = 0; n < 6 * pieces; n++) {
      history.observe(throughput(n / pieces, (n + 1) / pieces, rates[Math.floor(n / pieces)]!));
    }
    return featuresOf(history, 6);
  };
  expectClose(cutIn(8), cutIn(1), 9);
});

test('is scale-free', () => {
  const anyRates = fc.array(between(1e3, 1e9), { minLength: 1, maxLength: 200 });
  forAll([anyRates, whole(-8, 8)], { seed: 1, numRuns: 100 }, (rates, power) => {
    const scale = 2 ** power;
    const now = rates.length / 10;
    const plain = historyOf(now, (second) => rates[Math.round(second * 10)]!);
    const scaled = historyOf(now, (second) => scale * rates[Math.round(second * 10)]!);
    expect(scaled.referenceBps()! / plain.referenceBps()!).toBeCloseTo(scale, 9);
    expectClose(featuresOf(scaled, now), featuresOf(plain, now), 9);
  });
});

test('ignores impossible observations, and stays finite for all others', () => {
  let hits = 0;
  forAll([anySession, fc.array(anyObservation), between(0, 1e9)], { seed: 2, numRuns: 500 }, (link, others, now) => {
    const history = new LinkHistory();
    const isFiniteAt = (second: number) => {
      const features = featuresOf(history, second);
      if (features) hits++;
      expect(features?.every(Number.isFinite)).not.toBe(false);
    };
    for (const piece of link) {
      history.observe(piece);
      isFiniteAt(piece.endSeconds);
    }
    for (const one of others) {
      const isPossible = one.kind === 'throughput' && one.endSeconds > one.startSeconds && one.bits >= 0;
      const used = history.observe(one);
      if (!isPossible) expect(used).toBe(false);
    }
    isFiniteAt(now);
  });
  expect(hits).toBeGreaterThan(2500);
});

test('begins anew 4 s after a change to another link, up or down', () => {
  for (const after of [10e6, 50e6]) {
    const before = 60e6 - after;
    const history = historyOf(34.1, (second) => (second < 30 ? before : after));
    expect(history.downloadedSeconds).toBeLessThan(5);
    expect(history.referenceBps()).toBeCloseTo(after, 0);
    const alone = historyOf(4, () => after);
    expectClose(featuresOf(history, 34.1), featuresOf(alone, 4), 6, 'observed');
  }
});

test.each<[string, (second: number) => number]>([
  ['a shorter change', (second) => (second >= 30 && second < 33 ? 1e6 : 50e6)],
  ['rates that were there before', (second) => (second % 20 < 10 ? 10e6 : 50e6)],
  ['a change of less than half', (second) => (second < 30 ? 50e6 : 26e6)],
  ['a change in the first epoch', (second) => (second < 15 ? 50e6 : 10e6)],
])('keeps its past after %s', (_, rateAt) => {
  expect(historyOf(60, rateAt).downloadedSeconds).toBeCloseTo(60, 6);
});
