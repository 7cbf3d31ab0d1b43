import { expect, test } from '@jest/globals';
import { placeOf } from './place.ts';
import { isTrace, parseTraces, traceNameOf } from './trace-format.ts';
import { parseCooked, parseMahimahi } from './trace-of-others.ts';

const source = { name: 'x', file: 'x.txt', metadata: { dataset: 'd', recordingGroup: 'g' } };

function expectFault(run: () => unknown, field: string, got: string): void {
  expect(run).toThrow(expect.objectContaining({ name: 'InputError', field }));
  expect(run).toThrow(`, got ${got}`);
}

test("Pensieve cooked: a rate holds until its line's time, as in Pensieve's simulator; the clock starts at the first line", () => {
  const trace = parseCooked('10.0 9.9\n10.5\t1.5\n12 3\n', source);
  expect(trace.stepEndsSeconds).toEqual(Float64Array.of(0.5, 2));
  expect(trace.ratesBps).toEqual(Float64Array.of(1.5e6, 3e6));
  expect(trace.durationSeconds).toBe(2);
});

test.each([
  ['', undefined, undefined, '0'],
  ['0 1', undefined, undefined, '1'],
  ['0 1\n1', 2, 'Mbps', '"1"'],
  ['0 1\n1 2 3', 2, 'Mbps', '"2 3"'],
  ['0 1\n1 nan', 2, 'Mbps', '"nan"'],
  ['0 1\n1 -2', 2, 'Mbps', '"-2"'],
  ['0 1\n2 1\n2 1', 3, 'time', '2'],
  ['x 1\n2 1', 1, 'time', '"x"'],
  ['0 5\n1 0\n2 0', undefined, undefined, 'zeros only'],
])('Pensieve cooked: rejects %j', (text, line, field, got) => {
  expectFault(() => parseCooked(text, source), placeOf({ file: 'x.txt', line, field }), got);
});

test('mahimahi: counts opportunities in steps of 0.1 s until the last line', () => {
  const trace = parseMahimahi('0\n1\n1\n100\n101\n250\n', source);
  expect(trace.stepEndsSeconds).toEqual(Float64Array.of(0.1, 0.2, 0.25));
  expect(Array.from(trace.ratesBps)).toEqual([4 * 120e3, 120e3, 240e3]);
});

test.each([
  ['', undefined, '""'],
  ['1\n2.5', 2, '"2.5"'],
  ['1\n-2', 2, '"-2"'],
  ['1\n1700000000000', 2, '"1700000000000"'],
  ['5\n4', 2, '4'],
  ['0\n0', undefined, '0 ms'],
  ['1\nx', 2, '"x"'],
])('mahimahi: rejects %j', (text, line, got) => {
  expectFault(() => parseMahimahi(text, source), placeOf({ file: 'x.txt', line }), got);
});

test.each([
  ['12\n12\n13\n', 'x.down', true],
  ['0.0 1.23\n', 'report.2010-09-28_1407CEST', true],
  ['\ufeff\n time_s,throughput_mbps\n', 'x', true],
  ['seconds,rate\n', 'x.csv', true],
  ['# Traces\n12\n', 'README.md', false],
  ['', 'x', false],
])('%j in %s is a trace: %s', (text, file, expected) => {
  expect(isTrace(file, text)).toBe(expected);
});

test('determines the format, and parses in it', () => {
  expect(parseTraces('0 1\n1 2', { ...source, file: 'trace_1' })[0]!.ratesBps[0]).toBe(2e6);
  expectFault(() => parseTraces('hello', { ...source, file: 'notes.txt' }), 'notes.txt:1', '"hello"');
  expectFault(() => parseTraces('hello', { ...source, file: 'notes.csv' }), 'notes.csv:1', '"hello"');
  expectFault(() => parseTraces('', { ...source, file: 'empty' }), 'empty:1', '""');
});

test('a trace has the name of its file', () => {
  const files = ['/a/dl-001.csv', 'report.2010-09-28_1407CEST', 'x.trace', 'v1.2.csv'];
  expect(files.map(traceNameOf)).toEqual(['dl-001', 'report.2010-09-28_1407CEST', 'x', 'v1.2']);
});
