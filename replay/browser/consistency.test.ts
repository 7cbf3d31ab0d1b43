import { describe, expect, test } from '@jest/globals';
import { inconsistencies } from './consistency.ts';
import { recordedSession } from './recorded-session.fixture.ts';
import type { SessionRecord } from './session-record.ts';

const check = (change: Partial<SessionRecord> = {}, hasDecisions = true) =>
  inconsistencies({ ...recordedSession(), ...change }, { segmentSeconds: 4, segmentCount: 3, hasDecisions });

describe('inconsistencies', () => {
  test('none where rule, requests and element say the same', () => {
    expect(check()).toEqual([]);
    expect(check({ decisions: [] }, false)).toEqual([]);
  });

  test('another picture on screen than was loaded', () => {
    expect(check({ widthsOnScreen: [[64], [64], [64]] })).toEqual([
      'segment 2: video-1 is 96 wide, on screen were [64]',
    ]);
    expect(check({ widthsOnScreen: [[64], [], [96]] })[0]).toContain('on screen were []');
  });

  test('something else loaded than was decided, or not loaded once', () => {
    const { decisions, requests } = recordedSession();
    const [first, ...others] = decisions;
    expect(check({ decisions: [{ ...first!, representationId: 'video-1' }, ...others] })).toEqual([
      'segment 0: decided was video-1, loaded video-0',
    ]);
    expect(check({ requests: [...requests, requests[0]!] })).toEqual(['segment 0 was loaded 2 times']);
  });

  test('stalls that the log of the rule knows nothing of, and stops without an event', () => {
    expect(check({ stalls: [] })).toEqual(["at 6.60 s: stalled 1.500 s by the rule's log, 0.000 s by the element"]);
    expect(check({ unaccountedSeconds: 0.4 })).toEqual(['the playhead lost 0.400 s without a waiting event']);
  });

  test('a session that was broken off is not judged', () => {
    expect(check({ endedBy: 'fault', widthsOnScreen: [] })).toEqual([]);
  });
});
