/** `leo-abr quality`: joins a stream's segments with ffmpeg's VMAF logs, for the plugin and for scenarios. */

import { Command, Option } from 'commander';
import { check, requireArray, requireFrom, requireObject, unknownName } from '../../abr/errors.ts';
import { mean } from '../../replay/evaluation/statistics/quantiles.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import { QUALITY_SCHEMA, type QualityFile } from '../../replay/quality-file.ts';
import { count } from '../report/format.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { collect } from '../shared/options.ts';
import { readJson, requireWritable } from '../shared/results-file.ts';
import { bytesOf, type StreamRepresentation, type StreamSegment } from './pieces.ts';

/** Segments that begin this far apart show that boundaries differ between representations. */
const UNEVEN_SECONDS = 0.1;
/** Logs of one stream may differ by this share of pictures. */
const MISSING_SHARE = 0.01;
const GONE = ['--source <video>', '--ffmpeg <path>', '--displayed-lines <n>', '--jobs <n>'];

type QualityFlags = Record<'stream' | 'out' | 'metric', string> & { log: string[] };

export function qualityCommand(io: CommandIo): Command {
  const command = new Command('quality')
    .description("write a stream's bytes and quality per segment, from ffmpeg's VMAF logs")
    .requiredOption('--stream <manifest>', 'MPD or HLS playlist, on disk with its segments')
    .requiredOption('--out <file>', 'where bytes and qualities go as JSON')
    .option('--log <id=file>', 'JSON log of libvmaf for the whole representation of this id (repeatable)', collect, [])
    .option('--metric <name>', 'name of the measure in the file', 'vmaf_v0.6.1');
  for (const flag of GONE) command.addOption(new Option(flag).hideHelp());
  return command.action((flags: QualityFlags) => quality(flags, command, io));
}

async function quality({ stream, out, metric, log }: QualityFlags, command: Command, io: CommandIo): Promise<void> {
  for (const option of command.options.filter(({ hidden }) => hidden)) {
    const value = command.getOptionValue(option.attributeName());
    check(value === undefined, option.long!, 'no such flag since 0.4.0: run ffmpeg, and pass its logs by --log', value);
  }
  requireWritable(out, 'qualities');
  // The import is here, so that other commands start without the parser of XML.
  const { readStream } = await import('./stream.ts');
  const representations = readStream(stream);
  writeFileAtomically(out, `${JSON.stringify(qualityFile(representations, metric, logsOf(representations, log)))}\n`);
  io.stderr.write(`${count(representations.length, 'representation')} in ${out}\n`);
}

/** VMAF per picture, by the representation's id. */
function logsOf(representations: readonly StreamRepresentation[], given: readonly string[]): Map<string, number[]> {
  const ids = representations.map(({ id }) => id);
  const logs = new Map<string, number[]>();
  for (const one of given) {
    const id = ids.find((known) => one.startsWith(`${known}=`));
    if (id === undefined) throw unknownName('--log', ids, one.replace(/=.*/, ''));
    logs.set(id, vmafIn(one.slice(id.length + 1)));
  }
  const missing = ids.filter((id) => !logs.has(id));
  check(missing.length === 0, '--log', `one for each of ${ids.join(', ')}`, `none for ${missing.join(', ')}`);
  const most = Math.max(...[...logs.values()].map(({ length }) => length));
  for (const [id, { length }] of logs) {
    check(length >= (1 - MISSING_SHARE) * most, `--log ${id}`, `about ${most} pictures, as in other logs`, length);
  }
  return logs;
}

function vmafIn(file: string): number[] {
  const { frames } = requireObject(readJson(file, '--log'), file);
  return requireArray(frames, `${file}: frames`).map((frame, i) => {
    const field = `${file}: frames[${i}]`;
    const { vmaf } = requireObject(requireObject(frame, field)['metrics'], `${field}.metrics`);
    return requireFrom(vmaf, `${field}.metrics.vmaf`, 0, 100);
  });
}

function qualityFile(
  representations: readonly StreamRepresentation[],
  metric: string,
  logs: ReadonlyMap<string, readonly number[]>,
): QualityFile {
  const others = representations[0]!.segments;
  const durations = others.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const isUneven = representations.some(({ segments }) =>
    segments.some(
      ({ startSeconds }, i) => others[i] && Math.abs(startSeconds - others[i].startSeconds) > UNEVEN_SECONDS,
    ),
  );
  const entries = representations.map(({ id, segments, ...about }) => {
    const measured = {
      bytes: segments.map((segment) => bytesOf(segment).length),
      quality: meansOf(logs.get(id)!, segments, id),
    };
    return [id, { ...about, ...measured, ...(isUneven && { seconds: segments.map(({ seconds }) => seconds) }) }];
  });
  return {
    ...{ schema: QUALITY_SCHEMA, metric, segmentSeconds: durations[durations.length >> 1]! },
    representations: Object.fromEntries(entries),
  };
}

/** The pictures are spread evenly over the stream. */
function meansOf(vmaf: readonly number[], segments: readonly StreamSegment[], id: string): number[] {
  const [first, last] = [segments[0]!, segments.at(-1)!];
  const totalSeconds = last.startSeconds + last.seconds - first.startSeconds;
  const pictureAt = (at: number) => Math.round(((at - first.startSeconds) / totalSeconds) * vmaf.length);
  return segments.map((segment, i) => {
    const own = vmaf.slice(pictureAt(segment.startSeconds), pictureAt(segment.startSeconds + segment.seconds));
    check(own.length > 0, `--log ${id}`, `a picture of segment ${i}`, 'none');
    return Math.round(mean(own) * 100) / 100;
  });
}
