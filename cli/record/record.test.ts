import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { ManualClock } from '../../service/manual-clock.fixture.ts';
import { Problems } from '../../service/problems.ts';
import { Recorder } from '../../service/recording/recorder.ts';
import { refused, runListening as run } from '../shared/run.fixture.ts';
import { writeRows } from '../train/training-rows.ts';

const at = temporaryFolder('test');

const command = (...args: string[]) => run(['trace', 'record', ...args]);

const START_MS = Date.UTC(2026, 0, 1, 12);
/** Rate of the recorded link in Mbit/s. It differs between epochs. */
const mbpsAt = (second: number) => 40 + 8 * Math.sin(Math.floor(second / 15) * 2.3) + 2 * Math.sin(second);

/** Records like the service: a dish, and a player that downloads for two seconds and waits for two. */
async function keep(directory: string, seconds: number): Promise<void> {
  const clock = new ManualClock(START_MS);
  const options = { directory, maxBytes: 1e9, clock, problems: new Problems(clock) };
  const recorder = new Recorder({ ...options, place: () => '48.1, 11.6' });
  await recorder.open();
  const utcMsAt = (second: number) => START_MS + second * 1000;
  for (let second = 0; second < seconds; second++) {
    recorder.telemetry({ atMs: utcMsAt(second + 1), latencyMs: 30, dropRate: 0 });
    for (let tenth = 0; tenth < 10; tenth++) {
      const when = { startSeconds: second + tenth / 10, endSeconds: second + (tenth + 1) / 10 };
      const isBusy = second % 4 < 2;
      recorder.observation(
        isBusy ? { kind: 'throughput', ...when, bits: mbpsAt(second) * 1e5 } : { kind: 'idle', ...when },
        utcMsAt,
      );
    }
  }
  await recorder.close();
}

test('makes recordings from the files of a service, and train accepts them', async () => {
  await keep(at('kept'), 123);
  const { status, stdout, stderr } = await command('--from', at('kept'), '--out', at('mine'));
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  expect(stderr).toBe(`1 recording of 122 s (60 s bridged; 0 too short, 0 s) in ${at('mine')}\n`);
  expect(readdirSync(at('mine')).sort()).toEqual(['recorded-20260101T120000Z.csv', 'recorded-20260101T120000Z.json']);

  const traces = readTraces([at('mine')]);
  expect(traces).toHaveLength(1);
  const [{ ratesBps, rttSeconds, metadata }] = traces as [(typeof traces)[0]];
  expect(ratesBps).toHaveLength(122);
  for (let second = 0; second < 122; second++) {
    if (second % 4 < 2) expect(ratesBps[second]! / 1e6).toBeCloseTo(mbpsAt(second), 2);
  }
  expect(rttSeconds![1]).toBeCloseTo(0.03);
  const location = '48.1, 11.6';
  expect(metadata).toMatchObject({ dataset: 'recorded', recordingGroup: `${location} 2026-01-01`, location });
  expect(metadata).toMatchObject({ startUtcMs: START_MS, epochPhaseSeconds: 0, other: { bridged_s: 60 } });

  await writeRows({ traces, seed: 1, folder: at('rows') });
  expect(JSON.parse(readFileSync(at('rows', 'rows.json'), 'utf8')).rows).toBeGreaterThan(50);
  // The command accepts the data and fails only because Python is missing.
  const train = ['train', '--out', at('m.json'), '--environment', at('env'), '--python', '/nowhere/python', '--data'];
  expect((await run([...train, at('mine')])).stderr).toContain('--python: expected an interpreter');
  // The files of the service hold pieces of 2 s.
  expect((await run([...train, at('kept')])).stderr).toContain('--data: expected a recording of at least 30 s');
  expect(existsSync(at('m.json'))).toBe(false);
});

test('gives the same bytes again, groups by --place, leaves short recordings out, and refuses to mix them with their source', async () => {
  await keep(at('kept'), 40);
  const flags = ['--from', at('kept'), '--place', 'roof'];
  for (const out of ['a', 'b', 'b']) expect(await command(...flags, '--out', at(out))).toMatchObject({ status: 0 });
  for (const name of readdirSync(at('a'))) {
    expect(readFileSync(at('b', name), 'utf8')).toBe(readFileSync(at('a', name), 'utf8'));
  }
  expect(readTraces([at('a')])[0]!.metadata).toMatchObject({ recordingGroup: 'roof 2026-01-01', location: 'roof' });
  const apart = command(...flags, '--bridge', '1.5', '--out', at('c'));
  await refused(apart, '--shortest: expected 30 s without a longer pause, got 2 s at most');
  expect(existsSync(at('c'))).toBe(false);
  const { stderr } = await command(...flags, '--bridge', '0', '--shortest', '2', '--out', at('d'));
  expect(stderr).toContain('10 recordings of 20 s (0 s bridged; 0 too short, 0 s)');

  for (const out of [at('kept'), at('kept', 'below')]) {
    await refused(command(...flags, '--out', out), '--out: expected another folder than that of');
  }
  await keep(at('again'), 40);
  const message = '--from: expected recordings that begin at different times, got recorded-20260101T120000Z.csv';
  await refused(command(...flags, '--from', at('again'), '--out', at('mine')), message);
});

test.each<[string[], string]>([
  [['--from', 'nowhere'], '--from: expected a file or folder, got'],
  [['--from', 'kept', '--bridge', '-1'], '--bridge: expected a number of seconds, got "-1"'],
  [['--from', 'kept', '--shortest', 'x'], '--shortest: expected a number of seconds, got "x"'],
  [['--from', 'kept', '--place', ' '], '--place: expected a place, got " "'],
  [['--from', 'kept'], '--from: expected measurements by players, got none: no player reported to the service'],
  [['--from', 'bad'], 'bad.csv:2: throughput_mbps: expected a rate in Mbit/s, 0 to 1e6 (blank = unknown), got "x"'],
  [[], "required option '--from <path...>' not specified"],
])('refuses %j with status 2 and writes no recording', async (flags, message) => {
  for (const name of ['kept', 'bad']) mkdirSync(at(name));
  writeFileSync(at('bad', 'bad.csv'), 'time_s,throughput_mbps\n0,x\n');
  const args = flags.map((flag, i) => (flags[i - 1] === '--from' ? at(flag) : flag));
  await refused(command(...args, '--out', at('mine')), message);
  expect(existsSync(at('mine')) ? readdirSync(at('mine')) : []).toEqual([]);
});
