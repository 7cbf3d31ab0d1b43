import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { readHistory, readLocation, readStatus } from './read-answers.ts';

test('an absent number is zero, because protocol buffers omit zeros; other absent values are unknown', () => {
  const reading = readStatus({}, 5)!;
  expect(reading.second).toEqual({ atMs: 5, dropRate: 0, downlinkUsageBps: 0, uplinkUsageBps: 0, obstructed: false });
  expect(reading.uptimeSeconds).toBeUndefined();
  expect(readStatus({ device_state: {} }, 5)!.uptimeSeconds).toBe(0);
  // Absent coordinates are the equator and Greenwich.
  expect(readLocation({ lla: { lon: 9.4 } })).toEqual({ latitudeDegrees: 0, longitudeDegrees: 9.4 });
  expect(readLocation({ lla: { lat: 51.5 } })).toEqual({ latitudeDegrees: 51.5, longitudeDegrees: 0 });
  for (const nothing of [{}, { lla: {} }, { lla: { lat: 91 } }]) expect(readLocation(nothing)).toBeUndefined();
  const lost = [-1, 0].map((pop_ping_latency_ms) => readStatus({ pop_ping_latency_ms }, 5)!.second.latencyMs);
  expect(lost).toEqual([undefined, undefined]);
});

test('omits values of the wrong type or range', () => {
  const reading = readStatus(
    {
      pop_ping_drop_rate: 7,
      pop_ping_latency_ms: Number.NaN,
      downlink_throughput_bps: '5',
      uplink_throughput_bps: -1,
      obstruction_stats: { currently_obstructed: 'yes', fraction_obstructed: Number.POSITIVE_INFINITY },
      device_info: { hardware_version: '\u0000evil', software_version: 5 },
      device_state: { uptime_s: {} },
      outage: { cause: 'SOMETHING_NEW' },
    },
    5,
  )!;
  // All other fields are unknown.
  expect(reading).toEqual({ second: { atMs: 5, obstructed: false }, outage: 'UNKNOWN' });
});

test.each([
  ['is not full yet', [11, 12, 13, ...new Array<number>(897).fill(0)], 1, [11, 12, 13]],
  ['has wrapped around', [6, 7, 3, 4, 5], 3, [3, 4, 5, 6, 7]],
])('reads a ring buffer that %s', (_, pop_ping_latency_ms, oldest, expected) => {
  const current = oldest + expected.length - 1;
  const history = readHistory({ current, pop_ping_latency_ms })!;
  expect(history).toMatchObject({ current, oldest });
  expect(expected.map((_, i) => history.second(oldest + i).latencyMs)).toEqual(expected);
});

test('never throws', () => {
  const anything = fc.anything({ maxDepth: 3 });
  const fields = ['pop_ping_drop_rate', 'pop_ping_latency_ms', 'obstruction_stats', 'device_info', 'device_state'];
  const entries = [...fields, 'outage', 'current', 'lla'].map((name) => [name, anything]);
  const statusOfAnything = fc.record(Object.fromEntries(entries), { requiredKeys: [] });
  forAll([fc.oneof(anything, statusOfAnything)], { seed: 11, numRuns: 500 }, (raw) => {
    const { second } = readStatus(raw, 0) ?? {};
    if (second?.latencyMs !== undefined) expect(second.latencyMs).toBeGreaterThan(0);
    if (second?.dropRate !== undefined) expect(second.dropRate >= 0 && second.dropRate <= 1).toBe(true);
    const history = readHistory(raw);
    for (const number of [history?.oldest, history?.current]) if (number !== undefined) history!.second(number);
    readLocation(raw);
  });
});
