/** A small session record for tests: three segments of 4 s, one stall, one abandoned request. */

import type { DecisionRecord } from './decisions.ts';
import type { BrowserSessionRecord, RequestRecord } from './session-record.ts';

export const LADDER_BPS = [1e6, 2e6];
export const SIZES_BITS = Array(3).fill([4e6, 8e6]) as number[][];

const request = (index: number, representation: number, [from, to]: [number, number]): RequestRecord => {
  const media = { index, representationId: `video-${representation}`, bitrateBps: LADDER_BPS[representation]! };
  const times = { requestedAtSeconds: from, endedAtSeconds: to, bufferLevelSeconds: 0 };
  return { ...media, ...times, receivedBits: SIZES_BITS[index]![representation]!, outcome: 'complete' };
};

const decision = (index: number, representation: number, [nowSeconds, bufferLevelSeconds]: [number, number]) =>
  ({
    kind: 'decide',
    representationId: `video-${representation}`,
    decision: { representation, controller: 'test', reason: `because of ${index}` },
    state: { nowSeconds, bufferLevelSeconds, segmentIndex: index, started: nowSeconds > 0 },
  }) as DecisionRecord;

export function recordedSession(): BrowserSessionRecord {
  const abandonment: DecisionRecord = { ...decision(1, 0, [3, 2]), kind: 'abandon' };
  return {
    endedBy: 'end',
    requests: [
      request(0, 0, [0, 1]),
      { ...request(1, 1, [1, 3]), outcome: 'abandoned', receivedBits: 1e6 },
      request(1, 0, [3, 6.5]),
      { ...request(2, 1, [6.6, 8]), bufferLevelSeconds: 3.9 },
    ],
    decisions: [decision(0, 0, [0, 0]), decision(1, 1, [1, 4]), abandonment, decision(2, 1, [6.6, 3.9])],
    startupSeconds: 1,
    stalls: [{ startSeconds: 4.97, endSeconds: 6.52, mediaSeconds: 3.97 }],
    unaccountedSeconds: 0.001,
    widthsOnScreen: [[64], [64], [96]],
    decisionMillis: [0.1, 0.2, 0.3],
    protocols: { 'http/1.1': 3 },
    userAgent: 'test',
    playerVersion: '5.2.1',
  };
}
