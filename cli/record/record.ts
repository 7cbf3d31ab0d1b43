/** `leo-abr trace record`: makes recordings of the user's link, for `leo-abr train`. */

import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { type JoinedRun, runsOf } from '../../replay/formats/join-pieces.ts';
import { readTraces, traceFileName, traceFilesAt, writeTrace } from '../../replay/formats/trace-files.ts';
import type { Trace } from '../../replay/trace.ts';
import { count } from '../report/format.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { decimalNumber } from '../shared/options.ts';
import { LEAST_RECORDING_SECONDS } from '../train/training-rows.ts';

type RecordFlags = Record<'out' | 'bridge' | 'shortest', string> & { from: string[]; place?: string };

export function recordCommand(io: CommandIo): Command {
  return new Command('record')
    .description('make recordings of a link for train, from files of leo-abr serve --record')
    .requiredOption('--out <folder>', 'where the recordings go')
    .requiredOption('--from <path...>', 'folders or files of leo-abr serve --record')
    .option('--bridge <seconds>', 'longest pause between two downloads that does not end a recording', '4')
    .option('--shortest <seconds>', 'leave out shorter recordings', String(LEAST_RECORDING_SECONDS))
    .option('--place <words>', 'location of the link; place and day make a recording group')
    .action((flags: RecordFlags) => record(flags, io));
}

function record(flags: RecordFlags, io: CommandIo): void {
  const { out, from, place } = flags;
  const longestPauseSeconds = decimalNumber(flags.bridge, '--bridge', 'a number of seconds');
  const shortestSeconds = decimalNumber(flags.shortest, '--shortest', 'a number of seconds');
  check(place?.trim() !== '', '--place', 'a place', place);
  for (const path of from) requireApart(path, out);

  const paths = from.flatMap(traceFilesAt);
  const onNote = (note: string) => io.stderr.write(`${note}\n`);
  // Beside its traces, the service keeps records of other data.
  const files = paths.filter((file) => !file.endsWith('.jsonl'));
  const pieces = files.flatMap((file) => readTraces([file], { onNote }));
  const all = runsOf(pieces, longestPauseSeconds);
  const runs = all.filter(({ trace }) => trace.durationSeconds >= shortestSeconds);
  if (all.length === 0) {
    throw new InputError('--from', 'measurements by players', undefined, 'none: no player reported to the service');
  }
  if (runs.length === 0) {
    const longest = Math.max(...all.map(({ trace }) => trace.durationSeconds));
    const expected = `${shortestSeconds} s without a longer pause`;
    throw new InputError('--shortest', expected, undefined, `${whole(longest)} s at most`);
  }
  const recordings = runs.map((run) => recordingOf(run, place));
  requireDistinct(recordings);
  for (const recording of recordings) writeTrace(recording, out);
  io.stderr.write(`${summary(runs, all)} in ${out}\n`);
}

/** Input and output folders must differ, because otherwise `train --data` would find each recording twice. */
function requireApart(from: string, out: string): void {
  check(existsSync(from), '--from', 'a file or folder', from);
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
