import { expect, test } from '@jest/globals';
import { testReport } from '../../abr/qoe/session-report.fixture.ts';
import { isTrace, parseTraces } from './trace-format.ts';

const OBSERVED = { observations: '5000,6000,,,9000,0,,,,,,4000', observedFromMs: Date.UTC(2026, 2, 2, 10, 0, 30) };
const REPORT = testReport({ day: '2026-03-02', cluster: 7, ...OBSERVED });

function parse(reports: readonly object[]) {
  const notes: string[] = [];
  const text = reports.map((report) => (report instanceof String ? String(report) : JSON.stringify(report))).join('\n');
  const metadata = { dataset: 'unknown', recordingGroup: 'x' };
  const source = { name: 'r', file: 'r.ndjson', metadata, onNote: (note: string) => notes.push(note) };
  return { traces: parseTraces(text, source), notes };
}

test('a report becomes a recording per part, with straight lines across short pauses', () => {
  const { traces, notes } = parse([REPORT]);
  expect(notes).toEqual([]);
  expect(traces.map(({ name }) => name)).toEqual(['0123456789abcdef#1', '0123456789abcdef#3']);
  expect(traces.map(({ ratesBps }) => [...ratesBps])).toEqual([[5e6, 6e6, 7e6, 8e6, 9e6, 0], [4e6]]);
  expect(traces[0]!.metadata).toEqual({
    ...{ dataset: 'reports', recordingGroup: 'reports viewers 1 days 0', startUtcMs: REPORT.observedFromMs },
    ...{ epochPhaseSeconds: 30, other: { viewers: 1, days: 0 }, keepsRates: true },
  });
  expect(traces[1]!.metadata).toMatchObject({ startUtcMs: REPORT.observedFromMs! + 11_000, epochPhaseSeconds: 41 });
});

test('a fold has all sessions of its viewers and days; outside a trial viewers are unknown', () => {
  const groups = [0, 1, 2, 3].map((i) => {
    const report = { ...REPORT, id: `${i}`.repeat(16), cluster: 6 + i, day: `2026-03-0${2 + i}` };
    return parse([report]).traces[0]!.metadata.recordingGroup;
  });
  expect(groups).toEqual(['0 days 0', '1 days 1', '2 days 2', '0 days 0'].map((fold) => `reports viewers ${fold}`));
  const { trial, arm, armShare, unit, cluster, ...outside } = REPORT;
  expect(parse([outside]).traces[0]!.metadata).toMatchObject({
    ...{ recordingGroup: 'reports viewers unknown days 0', other: { viewers: null, days: 0 } },
  });
});

test('repeated and invalid reports, and those without throughput, are left out', () => {
  const { observations, observedFromMs, ...without } = REPORT;
  const other = { ...REPORT, id: 'ffffffffffffffff', observations: ',0,0' };
  const live = { ...REPORT, id: 'eeeeeeeeeeeeeeee', live: true };
  const lines = [REPORT, REPORT, without, other, live, { ...REPORT, id: 'x' }, new String('{')];
  const { traces, notes } = parse(lines);
  expect(traces.map(({ name }) => name)).toEqual(['0123456789abcdef#1', '0123456789abcdef#3']);
  expect(notes).toEqual(['r.ndjson: 2 of 7 lines are no valid reports']);
  expect(parse([without])).toEqual({ traces: [], notes: ['r.ndjson: no report on demand has observations'] });
});

test('files of reports are recognised by their first line or their ending', () => {
  expect(isTrace('a.txt', JSON.stringify(REPORT))).toBe(true);
  expect(isTrace('a.ndjson', '{"hostile')).toBe(true);
  expect(isTrace('records.jsonl', '{"at": 1}')).toBe(false);
});
