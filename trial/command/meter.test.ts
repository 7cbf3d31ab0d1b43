import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { PlaybackMeter } from '../../replay/browser/page/playback-meter.ts';
import { Playback } from '../page/playback.ts';

test('law: a trial measures startup and stalls as the benchmark does', () => {
  const part = between(0, 1);
  const stall = fc.record({ played: whole(3, 60), stoppedAt: part, stood: whole(2, 40), resumedAt: part });
  const stalls = fc.array(stall, { minLength: 1, maxLength: 5 });
  forAll([stalls, part], { seed: 71, numRuns: 50 }, (stalls, begin) => {
    const state = { ended: false, paused: false, playbackRate: 1, readyState: 4, seeking: false };
    const element = { ...state, currentTime: 0, duration: 600 };
    const playback = new Playback(0);
    const meter = new PlaybackMeter(element);
    let nowSeconds = 0;
    /** Tenths of a second, in each of which this share plays. */
    const pass = (tenths: number, share: number, readyState = 4) => {
      element.readyState = readyState;
      for (let i = 0; i < tenths; i++) {
        nowSeconds += 0.1;
        element.currentTime += 0.1 * share;
        playback.sample(nowSeconds, element);
        meter.sample(nowSeconds);
      }
    };
    pass(7, 0);
    pass(1, begin);
    for (const { played, stoppedAt, stood, resumedAt } of stalls) {
      pass(played, 1);
      pass(1, stoppedAt);
      meter.onWaiting(nowSeconds);
      pass(stood, 0, 2);
      pass(1, resumedAt);
    }
    pass(5, 1);
    const { startupSeconds, stallSeconds } = playback.figures(false, [8], (mbps) => mbps);
    const started = meter.startedAtSeconds!;
    expect(Math.abs(startupSeconds - started)).toBeLessThan(0.02);
    expect(Math.abs(stallSeconds - meter.waitedSeconds(nowSeconds) + started)).toBeLessThan(0.02 * stalls.length);
  });
});
