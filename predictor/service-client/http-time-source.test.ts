import { beforeEach, expect, jest, test } from '@jest/globals';
import { httpTimeSource } from './http-time-source.ts';

const UTC_MS = Date.UTC(2025, 5, 1, 12, 0, 0);

type Answer = { status?: number; text?: string; fails?: boolean };
const trip = (toMs: number, backMs: number, answer: Answer = {}) => ({ toMs, backMs, ...answer });

let startMs: number;
beforeEach(() => {
  jest.useFakeTimers();
  startMs = performance.now();
});

/** A server whose clock shows `UTC_MS` at the test's begin. The last trip repeats. */
function server(...trips: ReturnType<typeof trip>[]) {
  const fetch = jest.fn(async (_url: string, _init: { signal: AbortSignal }) => {
    const trip = trips[Math.min(fetch.mock.calls.length, trips.length) - 1]!;
    jest.advanceTimersByTime(trip.toMs);
    const text = trip.text ?? String(UTC_MS + performance.now() - startMs);
    jest.advanceTimersByTime(trip.backMs);
    if (trip.fails) throw new TypeError('network');
    return { ok: (trip.status ?? 200) < 400, status: trip.status ?? 200, text: async () => text };
  });
  Object.assign(globalThis, { fetch });
  return fetch;
}

test("gives the device's clock with an uncertainty of 2 s until the first response", async () => {
  server(trip(10, 10));
  const source = httpTimeSource('/time');
  const { utcMs, uncertaintySeconds } = source.now();
  expect([Math.abs(utcMs - Date.now()) < 1000, uncertaintySeconds]).toEqual([true, 2]);
  await source.ready;
  expect(source.now().utcMs).toBe(UTC_MS + 100);
});

test('the shortest round trip counts; its half is the uncertainty, and covers the error', async () => {
  const fetch = server(trip(90, 30), trip(12, 8), trip(200, 400));
  const source = httpTimeSource('/time');
  const reading = await source.ready;
  expect(fetch).toHaveBeenCalledTimes(5);
  const trueMs = UTC_MS + 90 + 30 + 20 + 3 * 600;
  expect(reading.utcMs - trueMs).toBeCloseTo(2, 6);
  expect(reading.uncertaintySeconds).toBeCloseTo(0.01, 3);
  expect(Math.abs(reading.utcMs - trueMs) / 1000).toBeLessThanOrEqual(reading.uncertaintySeconds);
  jest.advanceTimersByTime(3_600_000);
  expect(source.now().utcMs - (trueMs + 3_600_000)).toBeCloseTo(2, 6);
  // A quartz may have drifted by 0.18 s in an hour.
  expect(source.now().uncertaintySeconds).toBeCloseTo(0.19, 2);
});

test('tolerates failures of some samples', async () => {
  server(trip(5, 5, { fails: true }), trip(5, 5, { status: 503 }), trip(5, 5, { text: '<html>' }), trip(40, 40));
  const { uncertaintySeconds } = await httpTimeSource('/time').ready;
  expect(uncertaintySeconds).toBeCloseTo(0.04, 3);
});

test.each<[Answer, RegExp]>([
  [{ fails: true }, /network/],
  [{ status: 404 }, /404/],
  [{ text: '' }, /UTC in ms, got ""/],
  [{ text: String(UTC_MS / 1000) }, /UTC in ms/],
  [{ text: 'NaN' }, /UTC in ms/],
])('rejects when nothing usable came: %j', async (answer, message) => {
  server(trip(1, 1, answer));
  const source = httpTimeSource('/time');
  await expect(source.ready).rejects.toThrow(message);
  expect(source.now().uncertaintySeconds).toBe(2);
});

test('gives a signal that aborts, and the error names a wrong URL', async () => {
  const fetch = server(trip(1, 1));
  await httpTimeSource('/time').ready;
  expect(fetch.mock.calls[0]![1].signal).toBeInstanceOf(AbortSignal);
  expect(() => httpTimeSource('')).toThrow(/url/);
});
