/** `leo-abr trace record`: recordings of the user's link, for `leo-abr train`. */

import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { Command, Option } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { type JoinedRun, runsOf } from '../../replay/formats/join-pieces.ts';
import { readTraces, traceFileName, traceFilesAt, writeTrace } from '../../replay/formats/trace-files.ts';
import type { Trace } from '../../replay/trace.ts';
import { count } from '../report/format.ts';
import { interrupted } from '../serve/serve-options.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { decimalNumber } from '../shared/options.ts';
import { LEAST_RECORDING_SECONDS } from '../train/training-rows.ts';
import { type ActiveFlags, measureActively } from './active.ts';

interface RecordFlags extends ActiveFlags {
  out: string;
  from?: string[];
  bridge: string;
  shortest: string;
  place?: string;
}

/** The measurements, below `--out`. The search for traces skips folders whose name starts with a dot. */
const KEPT_FOLDER = '.records';
const ACTIVE_FLAGS = ['service', 'tokenFile', 'schedule', 'seconds', 'budgetMbPerDay'] as const;

export function recordCommand(io: CommandIo): Command {
  const active = 'measure the link by downloads from this address while nobody uses it, until Ctrl-C';
  return new Command('record')
    .description('make recordings of a link for train, from files of leo-abr serve --record or by downloads')
    .requiredOption('--out <folder>', 'where the recordings go')
    .option('--from <path...>', 'folders or files of leo-abr serve --record')
    .addOption(new Option('--active <url>', active).conflicts('from'))
    .option('--service <url>', 'with --active: leo-abr serve beside the dish (default: http://127.0.0.1:8790)')
    .option('--token-file <file>', "with --active: file with the service's bearer token")
    .option('--schedule <seconds>', 'with --active: begin a measurement this often (default: 1200)')
    .option('--seconds <seconds>', 'with --active: length of a measurement (default: 35)')
    .option('--budget-mb-per-day <n>', 'with --active: most MB downloaded in a UTC day (default: 2000)')
    .option('--bridge <seconds>', 'longest pause between two downloads that does not end a recording', '4')
    .option('--shortest <seconds>', 'leave out shorter recordings', String(LEAST_RECORDING_SECONDS))
    .option('--place <words>', 'location of the link; place and day make a recording group')
    .action((flags: RecordFlags) => record(flags, io));
}

async function record(flags: RecordFlags, io: CommandIo): Promise<void> {
  const { out, from, place } = flags;
  const longestPauseSeconds = decimalNumber(flags.bridge, '--bridge', { expected: 'a number of seconds' });
  const shortestSeconds = decimalNumber(flags.shortest, '--shortest', { expected: 'a number of seconds' });
  if (place?.trim() === '') throw new InputError('--place', 'a place', place);
  const stray = ACTIVE_FLAGS.find((name) => flags.active === undefined && flags[name] !== undefined);
  if (stray !== undefined) {
    const flag = `--${stray.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new InputError(flag, '--active as well', flags[stray]);
  }
  if (flags.active !== undefined) await measure(flags, io);
  else if (from === undefined) throw new InputError('--from', 'what leo-abr serve --record has recorded', from);
  for (const path of from ?? []) requireApart(path, out);

  const paths = (from ?? [join(out, KEPT_FOLDER)]).flatMap(traceFilesAt);
  const onNote = (note: string) => io.stderr.write(`${note}\n`);
  // The records of the service lie beside its traces.
  const files = paths.filter((file) => !file.endsWith('.jsonl'));
  const pieces = files.flatMap((file) => readTraces([file], { onNote }));
  const all = runsOf(pieces, longestPauseSeconds);
  const runs = all.filter(({ trace }) => trace.durationSeconds >= shortestSeconds);
  if (all.length === 0 && from !== undefined) {
    throw new InputError('--from', 'measurements by players', undefined, 'none: no player reported to the service');
  }
  if (runs.length === 0) {
    const longest = Math.max(0, ...all.map(({ trace }) => trace.durationSeconds));
    const got = all.length === 0 ? 'no measurement of the link' : `${whole(longest)} s at most`;
    throw new InputError('--shortest', `${shortestSeconds} s without a longer pause`, undefined, got);
  }
  const recordings = runs.map((run) => recordingOf(run, place));
  requireDistinct(recordings);
  for (const recording of recordings) writeTrace(recording, out);
  io.stderr.write(`${summary(runs, all)} in ${out}\n`);
}

async function measure(flags: RecordFlags, io: CommandIo): Promise<void> {
  const { REAL_CLOCK } = await import('../../service/index.ts');
  const every = (ms: number, act: () => void) => {
    const timer = setInterval(act, ms);
    return () => clearInterval(timer);
  };
  const note = (line: string) => io.stderr.write(`${line}\n`);
  const around = { directory: join(flags.out, KEPT_FOLDER), clock: REAL_CLOCK, fetch, every, note };
  await measureActively(flags, { ...around, interrupted: interrupted(io) });
}

/** Input and output folders must be apart, or `train --data` would find each recording twice. */
function requireApart(from: string, out: string): void {
  if (!existsSync(from)) throw new InputError('--from', 'a file or folder', from);
  const real = realpathSync(from);
  const place = existsSync(out) ? realpathSync(out) : resolve(out);
  if (statSync(from).isDirectory() ? !`${place}${sep}`.startsWith(`${real}${sep}`) : dirname(real) !== place) return;
  throw new InputError('--out', `another folder than that of ${from}`, out);
}

/** The run as a recording: named by its start, with location, recording group and bridged seconds. */
function recordingOf({ trace, bridgedSeconds }: JoinedRun, place: string | undefined): Trace {
  const { startUtcMs, location, other } = trace.metadata;
  const day = startUtcMs === undefined ? undefined : new Date(startUtcMs).toISOString();
  const where = place ?? location ?? 'unknown place';
  const isGrouped = place === undefined && trace.metadata.recordingGroup !== '';
  return {
    ...trace,
    name: day === undefined ? trace.name : `recorded-${day.replace(/[-:]|\.\d+/g, '')}`,
    metadata: {
      ...trace.metadata,
      recordingGroup: isGrouped ? trace.metadata.recordingGroup : [where, day?.slice(0, 10)].join(' ').trim(),
      ...(place !== undefined && { location: place }),
      other: { ...other, bridged_s: Math.round(bridgedSeconds * 1000) / 1000 },
    },
  };
}

function requireDistinct(recordings: readonly Trace[]): void {
  for (const [name, [one, other]] of groupBy(recordings, (recording) => traceFileName(recording))) {
    if (other === undefined) continue;
    const got = `${name} from ${one!.file} and from ${other.file}`;
    throw new InputError('--from', 'recordings that begin at different times', undefined, got);
  }
}

function summary(runs: readonly JoinedRun[], all: readonly JoinedRun[]): string {
  const total = (of: readonly JoinedRun[]) => of.reduce((sum, { trace }) => sum + trace.durationSeconds, 0);
  const bridged = runs.reduce((sum, run) => sum + run.bridgedSeconds, 0);
  const short = `${all.length - runs.length} too short, ${whole(total(all) - total(runs))} s`;
  return `${count(runs.length, 'recording')} of ${whole(total(runs))} s (${whole(bridged)} s bridged; ${short})`;
}

function whole(value: number): string {
  return String(Math.round(value));
}
