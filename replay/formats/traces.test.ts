import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../../abr/errors.ts';
import { between, forAll, whole } from '../../abr/property.fixture.ts';
import { testSession } from '../evaluation/test-sessions.fixture.ts';
import { put, temporaryFolder } from '../folder.fixture.ts';
import type { Trace } from '../trace.ts';
import { runsOf } from './join-pieces.ts';
import { decimalOf } from './lines.ts';
import { placeOf } from './place.ts';
import { SessionStore, sessionLine } from './session-store.ts';
import { parseSidecar } from './sidecar.ts';
import { formatTraceCsv, parseTraceCsv } from './trace-csv.ts';
import { readTraces, writeTrace } from './trace-files.ts';
import { isTrace, parseTraces, traceNameOf } from './trace-format.ts';
import { parseCooked, parseMahimahi } from './trace-of-others.ts';
import { writeFileAtomically } from './write-file.ts';

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
  [`${HEADER}\n0,1,,\n1e9,1,,\n1e300,1,,`, undefined, undefined, '2e+300 s'],
  [`${HEADER}\n0,1,,\n1e-9,1,,`, undefined, undefined, '2e-9 s'],
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

const at = temporaryFolder('test');

const CSV = 'time_s,throughput_mbps\n0,1\n1,2\n';

test('reads the traces of folders recursively and sorted, each file once', () => {
  put(at('b/two.csv'), CSV);
  put(at('b/two.json'), '\ufeff{"dataset":"d"}');
  put(at('a/one.csv'), CSV);
  put(at('a/README.md'), '# not a trace');
  put(at('a/notes.txt'), 'not a trace either');
  put(at('a/.hidden.csv'), 'broken');
  put(at('norway_bus_1'), '0 1\n1 2\n');
  put(at('lte.down'), '1\n2\n100\n');
  symlinkSync(at(), at('a', 'loop'));
  // Nobody writes to this pipe.
  spawnSync('mkfifo', [at('a', 'pipe.csv')]);
  const traces = readTraces([at(), at('b', 'two.csv')]);
  expect(traces.map(({ name }) => name)).toEqual(['one', 'two', 'lte', 'norway_bus_1']);
  expect(traces[1]).toMatchObject({ file: at('b/two.csv'), metadata: { dataset: 'd' } });
});

test('reads the sidecar: null means unknown, other fields are kept', () => {
  put(at('x.csv'), CSV);
  const sidecar = { dataset: 'road', recording_group: 'g', start_utc: null, epoch_phase_s: 39, gapped: true };
  put(at('x.json'), JSON.stringify({ ...sidecar, samples: 3 }));
  const notes: string[] = [];
  const [read] = readTraces([at('x.csv')], { onNote: (note) => notes.push(note) });
  expect(notes).toEqual([expect.stringContaining('announces 3 samples, the file has 2')]);
  const other = { gapped: true, samples: 3 };
  expect(read!.metadata).toEqual({ dataset: 'road', recordingGroup: 'g', epochPhaseSeconds: 39, other });
});

test('without a clock, the place of the dips gives the phase; the parts of a trace shift both', () => {
  put(at('x.csv'), 'time_s,throughput_mbps\n0,1\n0.1,1\n0.2,\n0.3,1\n0.4,1\n');
  put(at('x.json'), '{"handover_phase_s":0.2}');
  const phases = (file: string) =>
    readTraces([file]).map(({ metadata }) => `${metadata.handoverPhaseSeconds} ${metadata.epochPhaseSeconds}`);
  expect(phases(at('x.csv'))).toEqual(['0.2 11.8', '14.9 12.1']);
  put(at('x.json'), '{"handover_phase_s":0.2,"epoch_phase_s":12}');
  expect(phases(at('x.csv'))[0]).toBe('0.2 12');
});

test.each([
  ['{"dataset":', undefined],
  ['[]', undefined],
  ['{"dataset":3}', 'dataset'],
  ['{"recording_group":""}', 'recording_group'],
  ['{"epoch_phase_s":"12"}', 'epoch_phase_s'],
  ['{"epoch_phase_s":60}', 'epoch_phase_s'],
  ['{"handover_phase_s":15}', 'handover_phase_s'],
  ['{"start_utc":"yesterday"}', 'start_utc'],
  ['{"start_utc":"2024-04-19T16:23:20"}', 'start_utc'],
  ['{"start_utc":"2024-13-19T16:23:20Z"}', 'start_utc'],
])('rejects the sidecar %s', (text, field) => {
  put(at('x.csv'), CSV);
  const file = put(at('x.json'), text);
  const fault = { name: 'InputError', field: placeOf({ file, field }) };
  expect(() => readTraces([at()])).toThrow(expect.objectContaining(fault));
});

test('the error names the missing path or column', () => {
  mkdirSync(at('empty'));
  expect(() => readTraces([at('nowhere')])).toThrow(/nowhere: expected a file or folder/);
  expect(() => readTraces([at('empty')])).toThrow(/empty: expected a folder with traces/);
  symlinkSync('loop', at('loop'));
  expect(() => readTraces([at('loop')])).toThrow(/loop: expected something readable, got .*ELOOP/);
  rmSync(at('loop'));
  const broken = put(at('broken.csv'), 'time_s,throughput_mbps\n0,1\n1');
  expect(() => readTraces([at()])).toThrow(`${broken}:3: throughput_mbps: expected 2 columns`);
});

test('a written trace and its sidecar are read back the same', () => {
  const startUtcMs = Date.UTC(2024, 3, 19, 16, 23, 12, 500);
  const clock = { epochPhaseSeconds: 12.5, startUtcMs, handoverPhaseSeconds: 14.5 };
  const other = { synthetic: true, seed: 7 };
  const source = { dataset: 'd', recordingGroup: 'g', ...clock, location: 'here', licence: 'Apache-2.0', other };
  const rates = { stepEndsSeconds: Float64Array.of(1, 2, 3), ratesBps: Float64Array.of(12e6, 0, 24e6) };
  const trace = { name: 'x#2', ...rates, durationSeconds: 3, metadata: source };
  const out = at('out');
  const [read] = readTraces([writeTrace(trace, out)]);
  expect(readdirSync(out)).toHaveLength(2);
  expect(read).toMatchObject({ name: 'x-2', durationSeconds: 3, metadata: source });
});

test('an unwritable file is an input error and leaves no temporary file', () => {
  const file = put(at('file'), 'old');
  expect(() => writeFileAtomically(join(file, 'below'), 'new')).toThrow(InputError);
  mkdirSync(at('taken'));
  expect(() => writeFileAtomically(at('taken'), 'new')).toThrow(/taken: expected a file that can be written/);
  expect(readdirSync(at()).sort()).toEqual(['file', 'taken']);
  writeFileAtomically(file, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
});

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
  ['0 1\n1 1e308', 2, 'Mbps', '"1e308"'],
  ['0 1\n1e9 1', undefined, undefined, '1000000000 s'],
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

describe('session-store', () => {
  // Letters of two and three bytes, so that bytes and characters differ.
  const SESSIONS = ['first', 'zweite Fähre', '第三'].map((trace, i) => testSession({ trace, stallSeconds: i }));

  const at = temporaryFolder('test');
  let store: SessionStore;
  afterEach(() => store.close());

  test('gives the same sessions back, with their rows and without', () => {
    store = new SessionStore();
    const stored = [...store.add(SESSIONS.slice(0, 2)), ...store.add(SESSIONS.slice(2))];
    expect(stored.map(({ trace, stallSeconds }) => ({ trace, stallSeconds }))).toEqual(
      SESSIONS.map(({ trace, stallSeconds }) => ({ trace, stallSeconds })),
    );
    // In any order, as a report reads them.
    for (const i of [2, 0, 1]) expect(stored[i]!.segments).toEqual(SESSIONS[i]!.segments);
    expect(JSON.parse(JSON.stringify(stored))).toEqual(SESSIONS);
  });

  test('without a file, follows no link that waits in the temporary folder', () => {
    const others = put(at('others'), 'of others');
    const name = `leo-abr-sessions.${process.pid}.tmp`;
    const links = [name, `.${name}.${process.pid}.tmp`].map((one) => join(tmpdir(), one));
    for (const link of links) symlinkSync(others, link);
    try {
      store = new SessionStore();
      expect(store.add(SESSIONS)[1]!.segments).toEqual(SESSIONS[1]!.segments);
      expect(readFileSync(others, 'utf8')).toBe('of others');
    } finally {
      for (const link of links) rmSync(link, { force: true });
    }
  });

  test('keeps no rows in memory', () => {
    store = new SessionStore();
    const [stored] = store.add(SESSIONS);
    expect(Object.keys(stored!)).not.toContain('segments');
    expect(stored!.segments).not.toBe(stored!.segments);
  });

  test('writes a file of the head and a line per session, replacing what was there', () => {
    const file = at('results.json');
    writeFileSync(file, 'old');
    store = new SessionStore({ file, head: () => '{"é":[\n' });
    for (const session of SESSIONS) expect(store.add([session])[0]!.segments).toEqual(session.segments);
    expect(readFileSync(file, 'utf8')).toBe(`{"é":[\n${SESSIONS.map(sessionLine).join('')}`);
  });

  test('makes no file without a session', () => {
    const file = at('results.json');
    store = new SessionStore({ file, head: () => '' });
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

const START_MS = Date.UTC(2026, 0, 1, 12);

/** Pieces of one file: a rate in Mbit/s per second, null where unknown. */
function pieces(rates: readonly (number | null)[], metadata: Partial<Trace['metadata']> = { startUtcMs: START_MS }) {
  const rows = rates.map((rate, i) => `${i},${rate ?? ''},30,`);
  const recording = { dataset: 'recorded', recordingGroup: 'roof', ...metadata };
  const source = { name: 'trace', file: 'trace.csv', metadata: recording };
  return parseTraceCsv(`time_s,throughput_mbps,rtt_ms,loss\n${rows.join('\n')}\n`, source);
}

const mbps = ({ ratesBps }: Trace) => [...ratesBps].map((rate) => rate / 1e6);

test('runs bridge short pauses linearly, count them and keep the pings', () => {
  const runs = runsOf(pieces([10, 10, null, null, null, 50, 60, null, 20]), 3);
  expect(runs).toHaveLength(1);
  const [{ trace, bridgedSeconds }] = runs as [(typeof runs)[0]];
  expect(mbps(trace)).toEqual([10, 10, 20, 30, 40, 50, 60, 40, 20]);
  expect([...trace.stepEndsSeconds]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const [known, none] = [0.03, Number.NaN];
  expect([...trace.rttSeconds!]).toEqual([known, known, none, none, none, known, known, none, known]);
  expect({ bridgedSeconds, duration: trace.durationSeconds }).toEqual({ bridgedSeconds: 4, duration: 9 });
  expect(trace.metadata.startUtcMs).toBe(START_MS);
});

test('runs end at longer pauses and at the end of a file', () => {
  const one = pieces([10, null, null, null, 50, null, 50]);
  const other = pieces([70, 70]).map((piece) => ({ ...piece, file: 'other.csv' }));
  const runs = runsOf([...one, ...other], 2);
  expect(runs.map(({ trace }) => mbps(trace))).toEqual([[10], [50, 50, 50], [70, 70]]);
  const seconds = runs.map(({ trace }) => (trace.metadata.startUtcMs! - START_MS) / 1000);
  expect(seconds).toEqual([0, 4, 0]);
});

test('runs bridge nothing without a clock', () => {
  expect(runsOf(pieces([10, null, 50], {}), 10)).toHaveLength(2);
});

test('runs keep every known second; bridged seconds lie between their neighbours', () => {
  const rate = fc.option(whole(1, 200), { freq: 2 });
  const anyRates = fc.array(rate, { minLength: 2, maxLength: 60 });
  forAll([anyRates, whole(0, 5)], { seed: 1, numRuns: 200 }, (rates, longest) => {
    fc.pre(rates.some((one) => one !== null));
    const runs = runsOf(pieces(rates), longest);
    let known = 0;
    for (const { trace } of runs) {
      const offset = Math.round((trace.metadata.startUtcMs! - START_MS) / 1000);
      mbps(trace).forEach((value, i) => {
        const was = rates[offset + i];
        if (was === null) {
          expect(value).toBeGreaterThan(0);
          expect(value).toBeLessThanOrEqual(200);
        } else {
          expect(value).toBeCloseTo(was!);
          known++;
        }
      });
    }
    expect(known).toBe(rates.filter((one) => one !== null).length);
  });
});

test('equals Number for every finite number in any notation', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    between(0, 1e6).map((value) => value.toFixed(6)),
    fc.integer().map(String),
  );
  forAll([number], { seed: 1, numRuns: 2000 }, (text) => {
    expect(decimalOf(text)).toBe(Number(text));
  });
});

test.each(['', '-', '.', '1.2.3', '0x10', 'Infinity', 'NaN', '1e', '1e999', '1 2', 'abc'])(
  '%j is no number',
  (text) => {
    expect(decimalOf(text)).toBeNaN();
  },
);
