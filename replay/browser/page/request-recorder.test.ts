import { expect, test } from '@jest/globals';
import { RequestRecorder } from './request-recorder.ts';

test("a response tells the trace's second at a second of the plugin's clock, which begins with the first request", () => {
  const element = { buffered: { length: 0 }, currentTime: 0, playbackRate: 1 } as HTMLMediaElement;
  const recorder = new RequestRecorder(element, [1e6]);
  // A live session's clock begins before, at the join.
  recorder.startClock(performance.now() - 500);
  const told: [number, number][] = [];
  recorder.onResponse = (traceSeconds, nowSeconds) => told.push([traceSeconds, nowSeconds]);
  const request = {};
  recorder.started(request, { index: 0, representationId: 'video-0', ownReason: () => '' });
  recorder.responded(request, '9.5');
  expect(told).toEqual([[9.5, 0]]);
  expect(recorder.requests[0]!.requestedAtSeconds).toBeGreaterThanOrEqual(0.5);
});
