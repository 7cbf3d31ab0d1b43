import { expect, test } from '@jest/globals';
import { between, forAll, whole } from '../../../abr/property.fixture.ts';
import { SCENARIOS, type Scenario } from '../../scenarios.ts';
import { leastSegments, neededOfTraces, parseStarts, SLACK_SECONDS, sessionStarts } from './starts.ts';

const uhd = SCENARIOS['uhd-8']!;
const small = SCENARIOS['small-6']!;
const live = SCENARIOS['live-hd-1']!;

const full = (...starts: number[]) => starts.map((startSeconds) => ({ startSeconds, segmentCount: 48 }));
const from0 = (segmentCount: number) => [{ startSeconds: 0, segmentCount }];

test.each<[string, number, string, object[], Scenario?]>([
  ['a start that fits exactly', 232 + 61, 'every:61', full(0, 61)],
  ['the start before', 232 + 60.9, 'every:61', full(0)],
  ['in spite of rounding', 2320 * 0.1, 'every:61', full(0)],
  ['the given starts that fit', 300, 'at:30,69', full(30)],
  ['of a short trace floor(duration / segment) - 2 segments from 0', 60, 'every:61', from0(13)],
  ['of a trace without slack all segments', 217, 'every:61', from0(48)],
  // 74 s wrap at 60 s, and 16 segments of 4 s would exceed this.
  ['of a short trace no more than until it wraps', 74, 'every:61', from0(15)],
  ['none of a short trace but from 0', 60, 'at:30', []],
  // A piece of 14 s would play one segment, whose startup decides its QoE alone.
  ['none of less than 40 s of media', 47.9, 'every:61', []],
  ['40 s of media', 48, 'every:61', from0(10)],
  ['less if the scenario is shorter', 14, 'every:61', from0(1), { ...uhd, segmentCount: 1 }],
  ['none that does not fit, however short', 14, 'every:61', [], { ...uhd, segmentCount: 2 }],
  ['none of a trace that wraps at 30 s', 44.9, 'every:61', [], small],
  ['40 s of a trace that wraps at 45 s', 45, 'every:61', from0(20), small],
  ['twice as much media at rate 2', 96 + SLACK_SECONDS, 'at:0', full(0), { ...uhd, playbackRate: 2 }],
  ['a part of it at rate 1', 96 + SLACK_SECONDS, 'at:0', from0(32)],
  ['live sessions without slack', 255, 'every:61', [...from0(100), { startSeconds: 61, segmentCount: 100 }], live],
  // 241 s wrap at 240 s, one second before the second session would end.
  ['no live session past the wrap', 241, 'every:61', from0(100), live],
  // 60 s, and 10 segments before the join.
  ['a short live trace to its end', 60, 'every:61', from0(40), live],
  ['none of 39 s after the join', 39, 'every:61', [], live],
  ['45 s after the join', 46, 'every:61', from0(32), live],
])('plays %s (%d s, %s)', (_, durationSeconds, rule, starts, scenario = uhd) => {
  expect(sessionStarts({ durationSeconds }, scenario, parseStarts(rule))).toEqual(starts);
});

test('the shortest trace wraps no earlier than its session ends', () => {
  expect(neededOfTraces(small)).toMatch(/^a trace of 45 s or more/);
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

test('parses both kinds of starts', () => {
  expect(parseStarts('every:61')).toEqual({ everySeconds: 61 });
  expect(parseStarts('at:30,0,7.5')).toEqual({ atSeconds: [0, 7.5, 30] });
});

test.each(['', 'every', 'every:', 'every:0', 'every:-1', 'every:1e9', 'at:', 'at:1,', 'at:1,1', 'at:-1', 'each:5'])(
  'refuses %j, naming the flag',
  (text) => {
    expect(() => parseStarts(text)).toThrow(/^--starts: expected .*, got /);
  },
);
