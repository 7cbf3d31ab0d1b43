import { expect, test } from '@jest/globals';
import { testReport } from './session-report.fixture.ts';
import { MAX_REPORT_BYTES, SESSION_REPORT_FIELDS, type SessionReport, validSessionReport } from './session-report.ts';

test('a report with all fields, and one with the fields that it must have, are valid', () => {
  const full = testReport({ observations: '1200,,900', observedFromMs: 1.8e12, latencySeconds: 3, offRateShare: 0.1 });
  expect(Object.keys(full).sort()).toEqual(Object.keys(SESSION_REPORT_FIELDS).sort());
  expect(validSessionReport(full)).toBe(full);
  const isNeeded = (name: string) => !('optional' in SESSION_REPORT_FIELDS[name as keyof SessionReport]);
  const needed = Object.entries(full).filter(([name]) => isNeeded(name));
  expect(validSessionReport(Object.fromEntries(needed))).toEqual(Object.fromEntries(needed));
});

test('the longest report is within the limit', () => {
  const longest = Object.entries(SESSION_REPORT_FIELDS).map(([name, rule]) => {
    if (name === 'observations') return [name, '1'.repeat(2000)];
    if (name === 'faults') return [name, 'a'.repeat(16 * 33 - 1)];
    if ('max' in rule) return [name, 'whole' in rule ? rule.max : -1.23456e-300];
    return [name, 'a'.repeat('pattern' in rule ? 64 : 12)];
  });
  expect(JSON.stringify(Object.fromEntries(longest)).length).toBeLessThanOrEqual(MAX_REPORT_BYTES);
});

test.each<[Record<string, unknown>, string]>([
  [{ version: 2 }, 'report.version: expected a whole number from 1 to 1, got 2'],
  [{ ip: '10.0.0.1' }, 'report.ip: expected a field of the report, got "10.0.0.1"'],
  [{ stallSeconds: -1 }, 'report.stallSeconds: expected a number from 0 to 86400, got -1'],
  [{ cluster: 1.5 }, 'report.cluster: expected a whole number from 0 to 999, got 1.5'],
  [{ qoe: null }, 'report.qoe: expected a number from -1000000 to 1000, got null'],
  [{ qoe: 4.3 }, 'report.qoe: expected a number from -113.152 to 4.20042, got 4.3'],
  [{ qoe: -1e6, watchedSeconds: 1e5 }, 'report.qoe: expected a number from -0.3536 to'],
  [{ perceivedQoe: 101 }, 'report.perceivedQoe: expected a number from -1000000 to 100, got 101'],
  [{ perceivedQoe: -1e6 }, 'report.perceivedQoe: expected a number from -1'],
  [{ aboveEnoughBits: 2e9 }, 'report.aboveEnoughBits: expected at most requestedBits'],
  [{ day: '2026-02-29' }, 'report.day: expected a day of the calendar, got "2026-02-29"'],
  [{ observations: '123456789', observedFromMs: 2e12 }, 'report.observations: expected text like'],
  [{ observations: ',,,', observedFromMs: 2e12 }, 'report.observations: expected text like'],
  [{ player: 'vlc' }, 'report.player: expected dash.js or hls.js or shaka, got "vlc"'],
  [{ started: 1 }, 'report.started: expected true or false, got 1'],
  [{ faults: ['a'] }, 'report.faults: expected text like'],
  [{ arm: 'a\nb' }, 'report.arm: expected text like'],
  [{ wastedBits: 2e9 }, 'report.wastedBits: expected at most requestedBits (1400000000), got 2000000000'],
])('%j is refused', (change, message) => {
  expect(() => validSessionReport({ ...testReport(), ...change })).toThrow(message);
});

test('fields that belong together are there together', () => {
  const { arm: _, ...report } = testReport();
  expect(() => validSessionReport(report, 'a.ndjson:3')).toThrow('a.ndjson:3.arm: expected a value beside trial');
});
