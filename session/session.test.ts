import { expect, test } from '@jest/globals';
import type { ValidForecast } from '../abr/forecast.ts';
import { FakePort } from './fake-port.fixture.ts';
import type { Outcome } from './player-port.ts';
import { Request } from './request.ts';
import { OriginWaits, Session } from './session.ts';

const port = new FakePort();

/** `begin` requests a segment of 4 s of a representation, at the second of its index; `end` ends the request. */
function started() {
  const session = new Session();
  const begin = (index: number, representation = 0, segment = port.segment(index, representation)) => {
    const sizeBits = segment.representation.bitrateBps * 4;
    const request = new Request(index, { segment, sizeBits, knownBps: () => 0 });
    session.began(request);
    return request;
  };
  const end = (request: Request, bits = 4e6, outcome: Outcome = 'whole', seconds = 1, waitSeconds = 0.5) => {
    const { requestedAtSeconds } = request;
    for (const totalBits of [bits / 2, bits]) request.received(requestedAtSeconds + waitSeconds, { totalBits });
    const nowSeconds = requestedAtSeconds + Math.max(waitSeconds, seconds);
    session.ended(request, { outcome, nowSeconds, downloadSeconds: seconds, source: undefined });
  };
  const forecast = (highBps: number) => {
    session.forecast = { quantilesBps: [[highBps / 4, highBps]] } as unknown as ValidForecast;
  };
  return { record: () => session, begin, end, forecast, inFlight: () => session.inFlight(9) };
}

test('an abandoned segment that is requested again is the same segment, and its bits count as wasted', () => {
  const { record, begin, end, inFlight } = started();
  end(begin(0));
  for (const [abandonments, representation] of [2, 1].entries()) {
    const active = begin(1, representation);
    expect(inFlight()?.abandonments).toBe(abandonments);
    end(active, 1e6, 'abandoned');
  }
  begin(1);
  expect(inFlight()).toMatchObject({ abandonments: 2, sessionRequestedBits: 32e6, sessionWastedBits: 2e6 });
  expect(record()).toMatchObject({ beforeLastBps: 1e6, wholeDownloads: 1 });
  const measured = [false, true, true].map((abandoned) => ({ abandoned, latencySeconds: 0.5 }));
  expect(record().measured).toMatchObject(measured);
  // A failed request of the next segment is no abandonment.
  end(begin(2), 0, 'failed');
  begin(2);
  expect(inFlight()?.abandonments).toBe(0);
});

test('a download that a seek ends is a measurement, and no abandonment', () => {
  const { record, begin, end, inFlight } = started();
  end(begin(0));
  const active = begin(1);
  record().started = true;
  record().sought();
  end(active, 1e6, 'abandoned');
  begin(2);
  expect(inFlight()).toMatchObject({ abandonments: 0, sessionWastedBits: 0 });
  expect(record().measured.at(-1)).toMatchObject({ segmentIndex: 1, receivedBits: 1e6, abandoned: false });
});

test('counts segments from the start of the presentation', () => {
  const { record, begin, inFlight } = started();
  const { period } = port.now!;
  begin(0, 0, { ...port.segment(2, 2), period: { ...period, id: '1', firstIndex: 10 } });
  expect(inFlight()?.segmentIndex).toBe(12);
  // The same index in another period is another segment.
  begin(2);
  expect(record().beforeLastBps).toBe(4e6);
});

test('keeps at most 32 downloads', () => {
  const { record, begin, end } = started();
  for (let i = 1; i <= 40; i++) end(begin(i));
  expect(record().measured).toHaveLength(32);
  expect(record().measured[0]!.segmentIndex).toBe(9);
});

test('a response complete within 10 ms is a lower bound of the throughput if no slower one is known', () => {
  const { record, begin, end } = started();
  const took = (index: number, downloadSeconds: number, outcome?: Outcome) =>
    end(begin(index), 4e6, outcome, downloadSeconds);
  const seen = () => record().downloads.map(({ segmentIndex, downloadSeconds }) => [segmentIndex, downloadSeconds]);
  const bounds = (...indices: number[]) => indices.map((index) => [index, 0.01]);
  took(0, 0.002);
  took(0, 0.001, 'abandoned');
  took(1, 0);
  expect(seen()).toEqual(bounds(0, 1));
  took(2, 0.5);
  // Two fast responses may come from a cache.
  took(3, 0.002);
  took(4, 0.002);
  expect([seen(), record().isOutdated]).toEqual([[[2, 0.5]], false]);
  took(5, 0.002);
  expect([seen(), record().isOutdated]).toEqual([bounds(3, 4, 5), true]);
  took(6, 0.01);
  // It confirms them, so that the slower download before is outdated.
  expect([seen(), record().isOutdated]).toEqual([bounds(3, 4, 5, 6), false]);
  expect(record().requestedBits).toBe(32e6);
  // A slow one does not.
  for (const index of [7, 8, 9]) took(index, 0.002);
  took(10, 0.5);
  expect(seen()).toEqual([...bounds(3, 4, 5, 6), [10, 0.5]]);
});

test('a response that is much faster and sooner than all others may come from a cache; three that agree do not', () => {
  const { record, begin, end } = started();
  /** A response of 4 Mbit: seconds, and its wait for the first byte. */
  const took = (index: number, seconds: number, waitSeconds: number) =>
    end(begin(index), 4e6, 'whole', seconds, waitSeconds);
  const seen = () => record().downloads.map(({ segmentIndex }) => segmentIndex);
  for (const index of [0, 1]) took(index, 4, 0.05);
  // As fast, but with the usual wait.
  took(2, 0.06, 0.05);
  expect(seen()).toEqual([0, 1, 2]);
  // Three from a cache take times that do not agree.
  for (const [index, seconds] of [
    [3, 0.012],
    [4, 0.04],
    [5, 0.015],
  ] as const)
    took(index, seconds, 0.004);
  expect([seen(), record().isOutdated]).toEqual([[0, 1, 2], false]);
  took(6, 4, 0.05);
  expect(seen()).toEqual([0, 1, 2, 6]);
  // The link is really faster: the third counts, and the next one confirms it.
  for (const index of [7, 8, 9]) took(index, 0.03, 0.008);
  expect([seen(), record().isOutdated]).toEqual([[7, 8, 9], true]);
  took(10, 0.03, 0.008);
  expect([seen(), record().isOutdated]).toEqual([[7, 8, 9, 10], false]);
});

/** Downloads of `[server, Mbit/s, count]`; returns the known throughput in Mbit/s before each and after the last. */
function served(...rows: [server: string, mbps: number, count?: number][]) {
  const { record, begin, end } = started();
  const known = rows.flatMap(([server, mbps, count = 1]) =>
    Array.from({ length: count }, () => {
      record().switchOrigin(`https://${server}/`);
      const before = Math.round(record().knownBps() / 1e6);
      end(begin(before), 4e6, 'whole', 4 / mbps, 0.1);
      return before;
    }),
  );
  return { record, known: [...known, Math.round(record().knownBps() / 1e6)] };
}

test('a server with another throughput has a history of its own, after two downloads and at each return', () => {
  const { known } = served(['a', 8, 6], ['b', 1, 3], ['a', 8], ['b', 1]);
  expect(known).toEqual([0, ...Array(5).fill(8), 8, 3, 1, 8, 1, 1]);
  // Responses too fast to be measured count where nothing else is known.
  expect(served(['a', 1000], ['b', 1, 3], ['a', 1000]).known).toEqual([0, 400, 1, 1, 0, 400]);
});

test('servers whose downloads are alike share a history, because one link limits both', () => {
  const { known } = served(['a', 8, 5], ['b', 6, 2], ['b', 2, 5], ['a', 2]);
  // The link became slow, and not the server.
  expect(known.slice(-2)).toEqual([2, 2]);
});

test('each server has its own waits', () => {
  const { record } = served(['a', 1], ['b', 1]);
  const { origin } = record();
  record().switchOrigin('https://a/');
  expect(record().origin).not.toBe(origin);
  record().switchOrigin('https://b/');
  expect(record().origin).toBe(origin);
});

test('before anything is measured, responses much faster than the forecast are doubted', () => {
  const { record, begin, end, forecast } = started();
  forecast(1e6);
  for (const index of [0, 1]) end(begin(index), 4e6, 'whole', 0.02, 0.004);
  expect([record().downloads, record().isBlind]).toEqual([[], false]);
  end(begin(2), 4e6, 'whole', 3, 0.05);
  expect(record().downloads.map(({ segmentIndex }) => segmentIndex)).toEqual([2]);
});

const SITUATION = port.now!;

/** Downloads of 4 Mbit/s on a link of 8: index, representation, seconds to the first byte, and outcome. */
function waitsAfter(
  ...rows: (readonly [index: number, representation: number, seconds?: number, outcome?: Outcome])[]
) {
  const origin = new OriginWaits();
  let now = 0;
  const setUps = rows.map(([index, representation, seconds, outcome = 'whole']) => {
    const requestedAtSeconds = now;
    const isAnswered = seconds !== undefined && outcome === 'whole';
    now += (seconds ?? 0) + (outcome === 'whole' ? 0.5 : 0);
    const firstByteAtSeconds = isAnswered ? requestedAtSeconds + seconds : undefined;
    const segment = port.segment(index, representation);
    const times = { requestedAtSeconds, firstByteAtSeconds, dueSeconds: requestedAtSeconds };
    const download = { segment, segmentIndex: index, receivedBits: isAnswered ? 4e6 : 0, ...times };
    return origin.ended(download, outcome, now, 8e6);
  });
  const of = (representation: number) => origin.expectedSeconds(now, SITUATION.ladder[representation]!.id);
  const applied = (atSeconds = now) => origin.withSetUps(SITUATION, atSeconds);
  return { setUps, expected: [of(0), of(1), of(2)], applied };
}

const setUps = ({ ladder, playback: { setupSeconds } }: typeof SITUATION) => setupSeconds ?? ladder.map(() => 0);

test('before the first byte nothing is expected; a usual latency changes nothing', () => {
  expect(waitsAfter().expected).toEqual([Infinity, Infinity, Infinity]);
  const { setUps, expected, applied } = waitsAfter([0, 0, 0.05], [1, 1, 0.1], [2, 1, 0.05]);
  expect([...setUps, ...expected]).toEqual(Array(6).fill(0));
  expect(applied()).toBe(SITUATION);
});

test('a slow first byte after a switch is expected at the next switch alone, also to a new representation', () => {
  const { setUps, expected, applied } = waitsAfter([0, 0, 3], [1, 0, 0.05]);
  expect({ setUps, expected }).toEqual({ setUps: [3, 0], expected: [0, 3, 3] });
  expect(applied().playback.setupSeconds).toEqual([0, 3, 3]);
  expect(waitsAfter([0, 0, 3], [1, 0, 0.05], [2, 1, 0.05]).expected).toEqual([3, 0, 0]);
});

test('a slow switch counts for 20 s, and after another slow one until a fast one', () => {
  const onwards = (from: number) => Array.from({ length: 40 }, (_, i) => [from + i, 0, 0.05] as const);
  expect(waitsAfter([0, 0, 0.05], [1, 1, 3], ...onwards(2)).expected).toEqual([0, 0, 0]);
  const twice = [
    [0, 0, 0.05],
    [1, 1, 3],
    [2, 2, 3],
  ] as const;
  expect(waitsAfter(...twice, ...onwards(3)).expected).toEqual([0, 0, 3]);
  expect(waitsAfter(...twice, [3, 0, 0.05], [4, 2, 0.05], ...onwards(5)).expected).toEqual([0, 0, 0]);
});

test('two slow requests in a row make a usual wait, one does not', () => {
  expect(waitsAfter([0, 0, 0.05], [1, 0, 3]).expected[0]).toBe(0);
  expect(waitsAfter([0, 0, 0.05], [1, 0, 3], [2, 0, 2]).expected[0]).toBe(2);
});

test('a representation that fails or is silent where another one answers is avoided, for longer until it answers', () => {
  const fails = [4, 2, 0.1, 'failed'] as const;
  const other = [4, 0, 0.05] as const;
  const silent = [5, 2, 2.1, 'abandoned'] as const;
  const avoidedAt = (rows: Parameters<typeof waitsAfter>, ...times: number[]) =>
    times.map((at) => setUps(waitsAfter([0, 0, 0.05], ...rows).applied(at))[2]);
  expect(avoidedAt([fails, other], 2, 10, 12)).toEqual([60, 60, 0]);
  expect(avoidedAt([fails, other, silent, [5, 1, 0.05]], 60, 64)).toEqual([60, 0]);
  expect(avoidedAt([fails, other, [6, 2, 0.05], [7, 2, 0.1, 'failed'], [7, 0, 0.05]], 10, 14)).toEqual([60, 0]);
});

test('several representations without an answer were an outage, unless they fail again', () => {
  const both = (index: number) =>
    [
      [index, 2, 2.1, 'abandoned'],
      [index, 1, 0.1, 'failed'],
      [index, 0, 0.05],
    ] as const;
  expect(setUps(waitsAfter([0, 0, 0.05], ...both(4)).applied())).toEqual([0, 0, 0]);
  expect(setUps(waitsAfter([0, 0, 0.05], ...both(4), ...both(5)).applied())).toEqual([0, 60, 60]);
});

test.each<[string, ...Parameters<typeof waitsAfter>]>([
  ['the other one is slow, too: the link', [4, 2, 2.1, 'abandoned'], [4, 0, 1]],
  ['the same one answers', [4, 2, 0.1, 'failed'], [4, 2, 0.05]],
  ['another segment answers: this one is missing', [4, 2, 0.1, 'failed'], [5, 0, 0.05]],
  ['the other one failed before, too: an outage', [4, 2, 2.1, 'abandoned'], [4, 0, 0.1, 'failed'], [4, 0, 0.05]],
  ['it was abandoned soon', [4, 2, 1.1, 'abandoned'], [4, 0, 0.05]],
])('nothing is avoided where %s', (_, ...rows) => {
  expect(setUps(waitsAfter([0, 0, 0.05], ...rows).applied())).toEqual([0, 0, 0]);
});
