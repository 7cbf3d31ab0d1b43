import { expect, test } from '@jest/globals';
import { ManualClock } from '../manual-clock.fixture.ts';
import { SessionClock } from '../session-clock.ts';
import { LinkForecaster } from './link-forecaster.ts';

test('a second that the dish and a player show counts once, and the forecast does not become older by it', () => {
  const clock = new ManualClock();
  const forecaster = new LinkForecaster(new SessionClock(clock));
  const startMs = clock.utcMs();
  clock.advance(10);
  // The usage of a whole second comes at its end, the player's tenths of it after that.
  forecaster.observe({ kind: 'throughput', startSeconds: 9, endSeconds: 10, bits: 50e6 });
  for (let tenth = 90; tenth < 103; tenth++) {
    if (tenth === 95) expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_000 });
    const startSeconds = tenth / 10;
    forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: 5e6 });
  }
  expect(forecaster.observedSeconds).toBeCloseTo(1.3, 6);
  clock.advance(0.3);
  expect(forecaster.latest()).toMatchObject({ issuedAtMs: startMs + 10_300 });
});
