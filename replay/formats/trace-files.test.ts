import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { InputError } from '../../abr/errors.ts';
import { put, temporaryFolder } from '../folder.fixture.ts';
import { placeOf } from './place.ts';
import { readTraces, writeTrace } from './trace-files.ts';
import { writeFileAtomically } from './write-file.ts';

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
