import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import { parseSidecar } from './sidecar.ts';
import { formatTraceCsv, parseTraceCsv } from './trace-csv.ts';

const HEADER = 'time_s,throughput_mbps,rtt_ms,loss';

/** A trace with steps of whole ms and rates of whole bit/s, which a CSV represents exactly. */
const anyTrace = fc
  .record({
    stepMs: whole(1, 5000),
    rates: fc.array(fc.oneof(fc.constant(0), whole(0, 500_000_000)), { minLength: 2, maxLength: 60 }),
  })
  .filter(({ rates }) => rates.some((rate) => rate > 0))
  .map(({ stepMs, rates }): Trace => {
    const stepEndsSeconds = Float64Array.from(rates, (_, i) => ((i + 1) * stepMs) / 1000);
    const durationSeconds = stepEndsSeconds.at(-1)!;
    const metadata = { dataset: 'unknown', recordingGroup: 'any' };
    return { name: 'any', stepEndsSeconds, ratesBps: Float64Array.from(rates), durationSeconds, metadata };
  });

test('reads rates, round-trip times and loss; a sample holds until the next one, the last for one step', () => {
  const [trace, ...rest] = parseTraceCsv(`${HEADER}\n0,8,40,0.01\n1,16,,\n2,0,60,0\n`, 'x');
  expect(rest).toEqual([]);
  const rates = { stepEndsSeconds: Float64Array.of(1, 2, 3), ratesBps: Float64Array.of(8e6, 16e6, 0) };
  const packets = { rttSeconds: Float64Array.of(0.04, Number.NaN, 0.06), loss: Float64Array.of(0.01, Number.NaN, 0) };
  const metadata = { dataset: 'unknown', recordingGroup: 'x', keepsRates: true };
  expect(trace).toEqual({ name: 'x', ...rates, durationSeconds: 3, ...packets, metadata });
});

test('accepts two columns, any order, Windows line ends, a byte order mark, spaces and no last newline', () => {
  const [trace] = parseTraceCsv('\ufeffthroughput_mbps, time_s\r\n5 ,0\r\n 6,0.5\r\n7,1', 'x');
  expect(trace!.ratesBps).toEqual(Float64Array.of(5e6, 6e6, 7e6));
  expect(trace!.stepEndsSeconds).toEqual(Float64Array.of(0.5, 1, 1.5));
  expect(trace!.rttSeconds).toBeUndefined();
});

test('splits at blanks and gaps, and shifts the epoch phase and start of the parts', () => {
  const sidecar = '{ "start_utc": "2024-01-01T00:00:50Z", "recording_group": "g", "speed": 3 }';
  const metadata = parseSidecar(sidecar, 'road', 'road.json');
  const rows = ['0,', '1,1', '2,2', '3,', '4,4', '5,5', '30,6', '31,7', '32,8', '33,9', '34,9', '35,9'];
  const parts = parseTraceCsv(['time_s,throughput_mbps', ...rows].join('\n'), { name: 'road', metadata });
  const part = (number: number, durationSeconds: number, epochPhaseSeconds: number, start: string) => {
    const startUtcMs = Date.parse(`2024-01-01T00:${start}Z`);
    const metadata = { epochPhaseSeconds, startUtcMs, recordingGroup: 'g', other: { speed: 3 } };
    return { name: `road#${number}`, durationSeconds, metadata };
  };
  expect(parts).toMatchObject([part(1, 2, 51, '00:51'), part(2, 2, 54, '00:54'), part(3, 6, 20, '01:20')]);
  expect(parts[2]!.ratesBps[0]).toBe(6e6);
});

test('samples of an irregular file (change points) hold until the next one', () => {
  const [trace, ...rest] = parseTraceCsv('time_s,throughput_mbps\n0,10\n5,2\n60,10\n70,3\n', 'steps');
  expect(rest).toEqual([]);
  expect(trace!.stepEndsSeconds).toEqual(Float64Array.of(5, 60, 70, 80));
});

test('omits a part without capacity, with a note', () => {
  const notes: string[] = [];
  const source = { name: 'x', metadata: { dataset: 'd', recordingGroup: 'g' } };
  const text = 'time_s,throughput_mbps\n0,0\n1,0\n2,\n3,1\n4,1\n';
  const parts = parseTraceCsv(text, { ...source, onNote: (note) => notes.push(note) });
  expect(parts.map((part) => part.name)).toEqual(['x#2']);
  expect(notes).toEqual(['x#1: omitted, its 2 samples are all zeros']);
});

test.each([
  ['', undefined, undefined, '""'],
  [HEADER, undefined, undefined, 'a header only'],
  ['time_s,throughput_mbps,rtt\n0,1,1', 1, undefined, '"time_s,throughput_mbps,rtt"'],
  [`${HEADER}\n0,1,,\n1,16`, 3, 'rtt_ms', '2: "1,16"'],
  [`${HEADER}\n0,1,,\n1`, 3, 'throughput_mbps', '1: "1"'],
  [`${HEADER}\n0,1,,,`, 2, undefined, '5: "0,1,,,"'],
  [`${HEADER}\n0,1,,\n\n2,1,,`, 3, 'throughput_mbps', '1: ""'],
  [`${HEADER}\n0,1,,\n0,2,,`, 3, 'time_s', '0'],
  [`${HEADER}\n,1,,`, 2, 'time_s', '""'],
  [`${HEADER}\n0,NaN,,`, 2, 'throughput_mbps', '"NaN"'],
  [`${HEADER}\n0,-3,,`, 2, 'throughput_mbps', '"-3"'],
  [`${HEADER}\n0,5e7,,`, 2, 'throughput_mbps', '"5e7"'],
  [`${HEADER}\n0,1,-1,`, 2, 'rtt_ms', '"-1"'],
  [`${HEADER}\n0,1,,1.5`, 2, 'loss', '"1.5"'],
  [`${HEADER}\n0,0,,\n1,0,,`, undefined, undefined, 'zeros only'],
  [`${HEADER}\n0,,,\n1,,,`, undefined, undefined, '2 blank samples'],
])('rejects %j, naming line and field', (text, line, field, got) => {
  const fault = { name: 'InputError', field: placeOf({ file: 'bad.csv', line, field }) };
  expect(() => parseTraceCsv(text, 'bad.csv')).toThrow(expect.objectContaining(fault));
  expect(() => parseTraceCsv(text, 'bad.csv')).toThrow(`, got ${got}`);
});

test('parses written traces, and writes them again the same', () => {
  forAll([anyTrace], { seed: 1, numRuns: 300 }, (trace) => {
    const text = formatTraceCsv(trace);
    const [read] = parseTraceCsv(text, 'any');
    expect(read!.ratesBps.length).toBe(trace.ratesBps.length);
    read!.ratesBps.forEach((rate, i) => {
      expect(Math.abs(rate - trace.ratesBps[i]!)).toBeLessThan(1e-6);
      expect(read!.stepEndsSeconds[i]).toBeCloseTo(trace.stepEndsSeconds[i]!, 6);
    });
    expect(formatTraceCsv(read!)).toBe(text);
  });
});
