import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import { PiecewisePath } from '../../abr/index.ts';
import type { Trace } from '../trace.ts';
import { placeOf } from './place.ts';
import { formatCooked, parseCooked } from './trace-cooked.ts';
import { formatByContent, formatByEnding, parseTraces, traceNameOf } from './trace-format.ts';
import { formatMahimahi, MAHIMAHI_PACKET_BITS, parseMahimahi } from './trace-mahimahi.ts';

const source = { name: 'x', file: 'x.txt', metadata: { dataset: 'd', recordingGroup: 'g' } };

const anyTrace = fc
  .array(fc.record({ ms: fc.integer({ min: 1, max: 4000 }), bps: fc.integer({ min: 0, max: 20_000_000 }) }), {
    minLength: 1,
    maxLength: 30,
  })
  .filter((steps) => steps.some(({ bps }) => bps > 0))
  .map((steps): Trace => {
    let ms = 0;
    const ends = steps.map((step) => {
      ms += step.ms;
      return ms / 1000;
    });
    return {
      name: 'x',
      stepEndsSeconds: Float64Array.from(ends),
      ratesBps: Float64Array.from(steps, ({ bps }) => bps),
      durationSeconds: ms / 1000,
      metadata: source.metadata,
    };
  });

/** The field and the received value of the thrown error. */
function faultOf(run: () => unknown): (string | undefined)[] {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return [error.field, error.message.split(', got ').at(-1)];
    throw error;
  }
  throw new Error('no error');
}

describe('Pensieve cooked', () => {
  test("a rate holds until its line's time, as in Pensieve's simulator", () => {
    const trace = parseCooked('0.0 9.9\n0.5\t1.5\n2 3\n', source);
    expect(trace.stepEndsSeconds).toEqual(Float64Array.of(0.5, 2));
    expect(trace.ratesBps).toEqual(Float64Array.of(1.5e6, 3e6));
    expect(trace.durationSeconds).toBe(2);
  });

  test('the clock starts at the first line', () => {
    expect(parseCooked('10 1\n11 2\n13 3', source).stepEndsSeconds).toEqual(Float64Array.of(1, 3));
  });

  test('round trip', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const read = parseCooked(formatCooked(trace), source);
        expect(Array.from(read.stepEndsSeconds)).toEqual(Array.from(trace.stepEndsSeconds));
        read.ratesBps.forEach((rate, i) => {
          expect(Math.abs(rate - trace.ratesBps[i]!)).toBeLessThan(1e-6);
        });
      }),
      { seed: 1, numRuns: 300 },
    );
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
  ])('rejects %j', (text, line, field, got) => {
    expect(faultOf(() => parseCooked(text, source))).toEqual([placeOf({ file: 'x.txt', line, field }), got]);
  });
});

describe('mahimahi', () => {
  test('counts opportunities in steps of 0.1 s until the last line', () => {
    const trace = parseMahimahi('0\n1\n1\n100\n101\n250\n', source);
    expect(trace.stepEndsSeconds).toEqual(Float64Array.of(0.1, 0.2, 0.25));
    expect(Array.from(trace.ratesBps)).toEqual([4 * 120e3, 120e3, 240e3]);
  });

  test('round trip: differs from the trace by at most 1.5 packets and one millisecond', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const text = formatMahimahi(trace);
        const read = parseMahimahi(text, source);
        expect(read.durationSeconds).toBeCloseTo(trace.durationSeconds, 9);
        const given = new PiecewisePath(trace);
        const back = new PiecewisePath(read);
        const tolerance = 1.5 * MAHIMAHI_PACKET_BITS + 0.001 * Math.max(...trace.ratesBps) + 1;
        const differences = Array.from(read.stepEndsSeconds, (at) =>
          Math.abs(given.cumulativeBits(at) - back.cumulativeBits(at)),
        );
        expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test('times never decrease and the last is the duration', () => {
    fc.assert(
      fc.property(anyTrace, (trace) => {
        const times = formatMahimahi(trace).trim().split('\n').map(Number);
        expect(times.every((ms, i) => ms >= (times[i - 1] ?? 1))).toBe(true);
        expect(times[times.length - 1]).toBe(Math.round(trace.durationSeconds * 1000));
      }),
      { seed: 2, numRuns: 100 },
    );
  });

  test.each([
    ['', undefined, '""'],
    ['1\n2.5', 2, '"2.5"'],
    ['1\n-2', 2, '"-2"'],
    ['5\n4', 2, '4'],
    ['0\n0', undefined, '0 ms'],
    ['1\nx', 2, '"x"'],
  ])('rejects %j', (text, line, got) => {
    expect(faultOf(() => parseMahimahi(text, source))).toEqual([placeOf({ file: 'x.txt', line }), got]);
  });
});

describe('determines the format', () => {
  test('by ending', () => {
    expect(formatByEnding('/a/b.csv')).toBe('csv');
    expect(formatByEnding('Verizon-LTE-short.down')).toBe('mahimahi');
    expect(formatByEnding('norway_bus_1')).toBe('undecided');
    expect(formatByEnding('report.2010-09-28_1407CEST')).toBe('undecided');
    for (const file of ['x.json', 'README.md', 'plot.png']) expect(formatByEnding(file)).toBeUndefined();
  });

  test('by content', () => {
    expect(formatByContent('12\n12\n13\n')).toBe('mahimahi');
    expect(formatByContent('0.0 1.23\n')).toBe('cooked');
    expect(formatByContent('time_s,throughput_mbps\n')).toBe('csv');
    expect(formatByContent('# Traces\n')).toBeUndefined();
    expect(parseTraces('0 1\n1 2', { ...source, file: 'trace_1' })[0]!.ratesBps[0]).toBe(2e6);
    expect(faultOf(() => parseTraces('hello', { ...source, file: 'notes.txt' }))).toEqual(['notes.txt:1', '"hello"']);
    expect(faultOf(() => parseTraces('', { ...source, file: 'empty' }))).toEqual(['empty:1', '""']);
  });

  test('names', () => {
    expect(['/a/dl-001.csv', 'report.2010-09-28_1407CEST', 'x.trace', 'v1.2.csv'].map(traceNameOf)).toEqual([
      'dl-001',
      'report.2010-09-28_1407CEST',
      'x',
      'v1.2',
    ]);
  });
});
