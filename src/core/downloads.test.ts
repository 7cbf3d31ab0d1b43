import { describe, expect, test } from '@jest/globals';
import { adapted } from './fake-port.fixture.ts';
import { useManualClock, wait } from './manual-clock.fixture.ts';
import { Scripted, Steady } from './scripted.fixture.ts';

useManualClock();

function measured() {
  const steady = new Steady();
  const core = adapted({ controller: new Scripted(), forecasters: [steady] });
  const bits = () => {
    wait(2);
    core.forecasting!.meter.advance(core.clock.nowSeconds());
    return steady.observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
  };
  return { ...core, steady, bits };
}

describe('downloads', () => {
  test('are recorded as the player reports them, and their sizes are learnt', () => {
    const { port, session, downloads, decisions, bits } = measured();
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0, 1) });
    expect(session.record.requestedBits).toBe(8e6);
    wait(0.25);
    downloads.received(request, { totalBits: 1e6, sizeBits: 6e6 });
    expect(session.record.inFlight(0)).toMatchObject({ sessionRequestedBits: 6e6, receivedBits: 1e6, sizeBits: 6e6 });
    wait(0.25);
    downloads.received(request, { totalBits: 6e6, sizeBits: 6e6 });
    downloads.ended(request, 'whole', 0.5);
    expect(session.record.measured).toMatchObject([
      { segmentIndex: 0, receivedBits: 6e6, downloadSeconds: 0.5, latencySeconds: 0.25, abandoned: false },
    ]);
    expect(bits()).toBeCloseTo(6e6);
    decisions.decide();
    downloads.requested({}, { isMedia: true, segment: port.segment(1, 0) });
    // Three quarters of bitrate x duration, like the first segment.
    expect(session.record.requestedBits).toBe(6e6 + 3e6);
  });

  test('that were complete at their first report have no latency', () => {
    const { port, session, downloads, steady, bits } = measured();
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0) });
    wait(0.5);
    downloads.received(request, { totalBits: 4e6 });
    downloads.ended(request, 'whole', 0.5);
    expect(session.record.measured[0]).not.toHaveProperty('latencySeconds');
    expect(bits()).toBe(0);
    expect(steady.observations.some(({ kind }) => kind === 'request-latency')).toBe(false);
  });

  test("take the session's duration if the player's clock was set meanwhile", () => {
    const { port, session, downloads } = measured();
    for (const [index, downloadSeconds] of [-3599, 3601, 1.02, Number.NaN, 1.005].entries()) {
      const request = {};
      downloads.requested(request, { isMedia: true, segment: port.segment(index) });
      wait(1);
      downloads.received(request, { totalBits: 4e6 });
      downloads.ended(request, 'whole', downloadSeconds);
    }
    expect(session.record.measured.map(({ downloadSeconds }) => downloadSeconds)).toEqual([1, 1, 1, 1, 1.005]);
  });

  test('a retry by the player starts again at the first bit', () => {
    const { port, session, downloads, bits } = measured();
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0) });
    for (const received of [1e6, 2e6, 0.5e6, 4e6]) {
      wait(0.25);
      if (received === 0.5e6) downloads.restarted(request);
      downloads.received(request, { totalBits: received });
    }
    downloads.ended(request, 'whole', 1);
    expect(session.record.measured).toMatchObject([{ receivedBits: 4e6 }]);
    // 2 Mbit of the first attempt and all bits of the second.
    expect(bits()).toBeCloseTo(6e6);
  });

  test('that are abandoned count as wasted, and the meter gets all their bits', () => {
    const { port, session, downloads, bits } = measured();
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0) });
    wait(0.5);
    downloads.received(request, { totalBits: 1e6 });
    wait(0.25);
    downloads.ended(request, 'abandoned', 0.75);
    expect(session.record.requestedBits).toBe(4e6);
    expect(session.record).toMatchObject({ wastedBits: 1e6, wholeDownloads: 0 });
    expect(bits()).toBeCloseTo(1e6);
  });

  test.each(['failed', 'whole'] as const)('without a bit that are %s are not recorded', (outcome) => {
    const { port, session, downloads } = measured();
    const request = {};
    downloads.requested(request, { isMedia: true, segment: port.segment(0) });
    downloads.ended(request, outcome, 0.5);
    expect(session.record.requestedBits).toBe(0);
    expect(session.record).toMatchObject({ measured: [], active: undefined });
    expect(session.record.wholeDownloads).toBe(outcome === 'whole' ? 1 : 0);
  });

  test('of audio reach only the meter, and those of an earlier session nothing', () => {
    const { port, session, downloads, sourceEnded, bits } = measured();
    const audio = {};
    downloads.requested(audio, { isMedia: true });
    wait(0.5);
    downloads.received(audio, { totalBits: 1e5 });
    wait(0.5);
    downloads.received(audio, { totalBits: 3e5 });
    downloads.ended(audio, 'whole', 1);
    expect(bits()).toBeCloseTo(3e5);
    expect(session.record.requestedBits).toBe(0);
    expect(session.record).toMatchObject({ measured: [], wholeDownloads: 0 });
    const late = {};
    downloads.requested(late, { isMedia: true, segment: port.segment(0) });
    sourceEnded();
    downloads.received(late, { totalBits: 1e6 });
    downloads.ended(late, 'whole', 1);
    expect(session.record).toMatchObject({ measured: [], wholeDownloads: 0 });
  });
});
