import { describe, expect, test } from '@jest/globals';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { SCENARIOS } from '../../scenarios.ts';
import { leastSegments, neededOfTraces, parseStarts, SLACK_SECONDS, sessionStarts } from './starts.ts';

const uhd = SCENARIOS['uhd-8']!;
const every61 = parseStarts('every:61');

describe('sessionStarts', () => {
  const full = (...starts: number[]) => starts.map((startSeconds) => ({ startSeconds, segmentCount: 48 }));
  const short = (segmentCount: number) => [{ startSeconds: 0, segmentCount }];

  test.each([
    ['a start that fits exactly', 232 + 61, 'every:61', full(0, 61)],
    ['the start before', 232 + 60.9, 'every:61', full(0)],
    ['in spite of rounding', 2320 * 0.1, 'every:61', full(0)],
    ['the given starts that fit', 300, 'at:30,69', full(30)],
    ['of a short trace floor(duration / segment) - 2 segments from 0', 60, 'every:61', short(13)],
    ['of a trace without slack all segments', 217, 'every:61', short(48)],
    // 74 s wrap at 60 s, and 16 segments of 4 s would exceed this.
    ['of a short trace no more than until it wraps', 74, 'every:61', short(15)],
    ['none of a short trace but from 0', 60, 'at:30', []],
  ])('plays %s (%d s, %s)', (_, durationSeconds, rule, starts) => {
    expect(sessionStarts({ durationSeconds }, uhd, parseStarts(rule))).toEqual(starts);
  });

  test('no session of less than 40 s of media, unless the scenario is shorter', () => {
    const counts = (durationSeconds: number, scenario = uhd) =>
      sessionStarts({ durationSeconds }, scenario, every61).map(({ segmentCount }) => segmentCount);
    // A piece of 14 s would play one segment, whose startup decides its QoE alone.
    expect(counts(14)).toEqual([]);
    expect([counts(47.9), counts(48)]).toEqual([[], [10]]);
    expect([counts(14, { ...uhd, segmentCount: 1 }), counts(14, { ...uhd, segmentCount: 2 })]).toEqual([[1], []]);
    const small = SCENARIOS['small-6']!;
    // It wraps at 30 s, or at 45 s.
    expect([counts(44.9, small), counts(45, small)]).toEqual([[], [20]]);
    expect(neededOfTraces(small)).toMatch(/^a trace of 45 s or more/);
  });

  test('the playback rate changes the required duration', () => {
    const media = uhd.segmentCount * uhd.segmentSeconds;
    const durationSeconds = media / 2 + SLACK_SECONDS;
    const starts = (playbackRate: number) =>
      sessionStarts({ durationSeconds }, { ...uhd, playbackRate }, { atSeconds: [0] });
    expect(starts(2)).toEqual([{ startSeconds: 0, segmentCount: uhd.segmentCount }]);
    expect(starts(1)[0]!.segmentCount).toBeLessThan(uhd.segmentCount);
  });

  test('a live session fits exactly, and plays a short trace to its end', () => {
    const live = SCENARIOS['live-hd-1']!;
    const starts = (durationSeconds: number) => sessionStarts({ durationSeconds }, live, every61);
    expect(starts(255)).toEqual([0, 61].map((startSeconds) => ({ startSeconds, segmentCount: 100 })));
    // 241 s wrap at 240 s, one second before the second session would end.
    expect(starts(241)).toEqual([{ startSeconds: 0, segmentCount: 100 }]);
    // 60 s, and 10 segments before the join.
    expect(starts(60)).toEqual([{ startSeconds: 0, segmentCount: 40 }]);
    expect([starts(39), starts(46)]).toEqual([[], [{ startSeconds: 0, segmentCount: 32 }]]);
  });

  test('law: every session fits, and the next start would not', () => {
    const anyDuration = between(1, 4000);
    const anyPeriod = whole(1, 200);
    forAll([anyDuration, anyPeriod], { seed: 1 }, (durationSeconds, everySeconds) => {
      const starts = sessionStarts({ durationSeconds }, uhd, { everySeconds });
      for (const { startSeconds, segmentCount } of starts) {
        expect(startSeconds + segmentCount * uhd.segmentSeconds).toBeLessThanOrEqual(durationSeconds);
        expect(segmentCount).toBeGreaterThanOrEqual(leastSegments(uhd));
      }
      const media = uhd.segmentCount * uhd.segmentSeconds;
      if (durationSeconds >= media + SLACK_SECONDS) {
        expect(starts.length * everySeconds + media + SLACK_SECONDS).toBeGreaterThan(durationSeconds);
      } else expect(starts.length).toBeLessThanOrEqual(1);
    });
  });
});

describe('parseStarts', () => {
  test('parses both kinds', () => {
    expect(parseStarts('every:61')).toEqual({ everySeconds: 61 });
    expect(parseStarts('at:30,0,7.5')).toEqual({ atSeconds: [0, 7.5, 30] });
  });

  test.each(['', 'every', 'every:', 'every:0', 'every:-1', 'every:1e9', 'at:', 'at:1,', 'at:1,1', 'at:-1', 'each:5'])(
    'refuses %j, naming the flag',
    (text) => {
      expect(() => parseStarts(text)).toThrow(/^--starts: expected .*, got /);
    },
  );
});
