import { describe, expect, test } from '@jest/globals';
import { testScenario, testSession, testTrace } from '../../replay/evaluation/test-sessions.fixture.ts';
import type { Trace } from '../../replay/trace.ts';
import { sessionSeries } from './session-series.ts';

const scenario = testScenario();
const blank = testSession().segments[0]!;
const segments = [
  { ...blank, index: 0, requestedAtSeconds: 0, downloadSeconds: 1, bufferLevelSeconds: 0 },
  {
    ...blank,
    index: 1,
    requestedAtSeconds: 1,
    downloadSeconds: 6,
    bufferLevelSeconds: 4,
    stallSeconds: 2,
    bitrateBps: 8e6,
  },
  { ...blank, index: 2, requestedAtSeconds: 7, downloadSeconds: 1, bufferLevelSeconds: 4 },
];

describe('sessionSeries', () => {
  test('the buffer level rises with each segment, falls between them and is 0 in a stall', () => {
    const series = sessionSeries({ segments, startSeconds: 0 }, scenario)!;
    const corners = series.buffer.map(({ seconds, bufferSeconds }) => `${seconds}:${bufferSeconds}`);
    expect(corners).toEqual([
      ...['0:0', '1:0', '1:0', '1:4'],
      ...['1:4', '5:0', '7:0', '7:4'],
      ...['7:4', '8:3', '8:3', '8:7'],
      '15:0',
    ]);
    expect(series.stalls).toEqual([{ from: 5, to: 7 }]);
    expect(series.endSeconds).toBe(15);
    expect(series.requested.map(({ mbps }) => mbps)).toEqual([3, 8, 3, 3]);
    expect(series.capacity).toBeUndefined();
    expect(sessionSeries({ segments: [], startSeconds: 0 }, scenario)).toBeUndefined();
  });

  test('capacity is the payload share of the trace, from the start on and repeated', () => {
    const trace: Trace = {
      ...testTrace('t', 30),
      stepEndsSeconds: Float64Array.of(10, 30),
      ratesBps: Float64Array.of(20e6, 40e6),
    };
    const { capacity } = sessionSeries({ segments, startSeconds: 25 }, scenario, trace)!;
    expect(capacity!.map(({ seconds }) => seconds)).toEqual([0, 5, 15]);
    const rates = capacity!.map(({ mbps }) => mbps);
    expect(rates[0]).toBeCloseTo(38, 9);
    expect(rates[1]).toBeCloseTo(19, 9);
  });
});
