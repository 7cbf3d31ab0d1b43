import { expect, test } from '@jest/globals';
import { inconsistencies } from './consistency.ts';
import { recordedSession } from './recorded-session.fixture.ts';
import type { BrowserSessionRecord } from './session-record.ts';

const TARGET = { targetLatencySeconds: 2, chunkSeconds: 1 };
const LIVE = { ...TARGET, encoderLatencySeconds: 0.3, timeShiftSeconds: 4 };

const OPTIONS = { segmentSeconds: 4, segmentCount: 3, hasDecisions: true };
const check = (change: Partial<BrowserSessionRecord> = {}, options: Parameters<typeof inconsistencies>[1] = OPTIONS) =>
  inconsistencies({ ...recordedSession(), ...change }, options);

const { decisions, requests } = recordedSession();
const otherDecisions = [{ ...decisions[0]!, representationId: 'video-1' }, ...decisions.slice(1)];

/** What is wrong with the widths of a segment. */
const shown = (segment: number, [video, pixels]: [number, number], ...widths: number[]) =>
  `segment ${segment}: video-${video} is ${pixels} pixels wide, the widths on screen were [${widths.join(', ')}]`;
const STALL = 'at 6.60 s: stalled 1.500 s according to the decisions, 0.000 s according to the element';

test.each<[string, Partial<BrowserSessionRecord>, string[]]>([
  ['agreement', {}, []],
  ['an unfinished session', { endedBy: 'fault', widthsOnScreen: [] }, []],
  ['a picture that was not loaded', { widthsOnScreen: [[64], [64], [64]] }, [shown(2, [1, 96], 64)]],
  ['no picture', { widthsOnScreen: [[64], [], [96]] }, [shown(1, [0, 64])]],
  ['another decision', { decisions: otherDecisions }, ['segment 0: the decision was video-1, the request video-0']],
  ['two requests', { requests: [...requests, requests[0]!] }, ['segment 0 was loaded 2 times']],
  ['no stall', { stalls: [] }, [STALL]],
  ['lost time', { unaccountedSeconds: 0.4 }, ['the playhead lost 0.400 s without a waiting event']],
])('%s', (_, change, expected) => {
  expect(check(change)).toEqual(expected);
});

test('without decisions of its own a session has nothing to compare', () => {
  expect(check({ decisions: [] }, { ...OPTIONS, hasDecisions: false })).toEqual([]);
});

test('of a live session: segments that were not shown do not count, latencies do', () => {
  const { decisions, ...record } = recordedSession();
  const positions = [{ atSeconds: 1, mediaSeconds: 3, rate: 0.5 }];
  const played: BrowserSessionRecord = {
    ...record,
    // Joined in segment 1; after a jump dash.js did not ask.
    widthsOnScreen: [[], [64], [96]],
    decisions: decisions.filter(({ state }) => state.segmentIndex === 1),
    live: { positions, jumps: 1, endSeconds: 4.9, shownLatencySeconds: 3.95 },
  };
  const options = { ...OPTIONS, live: LIVE };
  expect(inconsistencies(played, options)).toEqual([]);
  played.live!.shownLatencySeconds = 3.7;
  expect(inconsistencies(played, options)).toEqual([
    'at 4.90 s: a latency of 3.700 s according to dash.js, 3.950 s according to the element',
  ]);
  played.live!.shownLatencySeconds = 3.95;
  // The plugin's clock starts at its first request, half a second after the join.
  const decision = played.decisions.at(-1);
  const latencySeconds = 4 + 2.5 - 3 - 0.5 * (2.5 - 1);
  played.requests = record.requests.map((one) => ({ ...one, requestedAtSeconds: one.requestedAtSeconds + 0.5 }));
  const bounds = { playbackRates: { min: 0.95, max: 1.05 }, maxLatencySeconds: 10, firstChunkAtSeconds: 0 };
  const state = { ...decision!.state, nowSeconds: 2, live: { ...bounds, ...TARGET, latencySeconds } };
  played.decisions = [{ ...decision!, state }];
  expect(inconsistencies(played, options)).toEqual([]);
  state.live.latencySeconds += 0.3;
  expect(inconsistencies(played, options)).toHaveLength(1);
});

test('of a live session: chunks of an abandoned download may be on screen', () => {
  const showing = (widthsOnScreen: number[][]) => check({ widthsOnScreen }, { ...OPTIONS, live: LIVE });
  expect(showing([[64], [96, 64], [96]])).toEqual([]);
  expect(showing([[64], [128, 64], [96]])).toEqual([shown(1, [0, 64], 128, 64)]);
  // On demand a segment plays once all of it is here.
  expect(check({ widthsOnScreen: [[64], [96, 64], [96]] })).toHaveLength(1);
});
