import { expect, test } from '@jest/globals';
import { PiecewisePath } from '../../abr/index.ts';
import { PacedLink, TICK_MS } from './paced-link.ts';
import { VirtualClock } from './virtual-clock.fixture.ts';

const RTT_SECONDS = 0.04;
const step = new PiecewisePath({ stepEndsSeconds: [2, 3, 5], ratesBps: [8e6, 0, 80e6] });

/** Downloads `bytes` and records the number of arrived bytes over time. */
function download(bytes: number, clock = new VirtualClock()) {
  const link = new PacedLink(clock, step, RTT_SECONDS);
  link.start();
  const startMs = clock.nowMs();
  const record: { seconds: number; bytes: number }[] = [];
  const handle = link.request(bytes, (count) => {
    record.push({ seconds: (clock.nowMs() - startMs) / 1000, bytes: count });
  });
  clock.run();
  return { clock, prescribedEndSeconds: handle.prescribedEndSeconds, record };
}

test('delivers along the path, one RTT late, never early and at most a tick late', () => {
  const bytes = 5e6;
  const { clock, prescribedEndSeconds, record } = download(bytes);
  const path = step.from(0, RTT_SECONDS);
  for (const { seconds, bytes: come } of record) {
    const dueBytes = (step.cumulativeBits(seconds) - step.cumulativeBits(RTT_SECONDS)) / 8;
    expect(come).toBeLessThanOrEqual(dueBytes + 1e-3);
    expect(come).toBeGreaterThan(dueBytes - (80e6 * TICK_MS) / 8000);
  }
  expect(record[0]!.seconds).toBeLessThan(RTT_SECONDS + 0.005);
  expect(record.at(-1)).toEqual({ seconds: expect.closeTo(path.downloadSeconds(0, bytes * 8), 6), bytes });
  expect(prescribedEndSeconds).toBeCloseTo(path.downloadSeconds(0, bytes * 8), 9);
  expect(clock.pending).toBe(0);
});

test('timers that fire late delay bytes, but not the prescribed end', () => {
  let turn = 0;
  const { prescribedEndSeconds, record } = download(1e6, new VirtualClock(() => (turn++ % 3) * 5));
  const prescribed = step.from(0, RTT_SECONDS).downloadSeconds(0, 8e6);
  expect(prescribedEndSeconds).toBeCloseTo(prescribed, 9);
  expect(record.at(-1)!.seconds - prescribed).toBeGreaterThanOrEqual(0);
  expect(record.at(-1)!.seconds - prescribed).toBeLessThan(0.0101);
});
