/** `leo-abr quality`: measures a stream's quality per segment, for the plugin and for scenarios. */

import { rmSync } from 'node:fs';
import { Command, Option } from 'commander';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import { count } from '../report/format.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { choice, jobsOption } from '../shared/options.ts';
import { withProgress } from '../shared/progress.ts';
import { requireWritable } from '../shared/results-file.ts';
import { requireVmaf } from './ffmpeg.ts';
import { measureQuality } from './measure.ts';

type QualityFlags = Record<'source' | 'stream' | 'out' | 'ffmpeg' | 'jobs', string> & {
  displayedLines?: '1080' | '2160';
};

export function qualityCommand(io: CommandIo): Command {
  const lines = 'lines of the display (default: 2160 for a source of more than 1440)';
  return new Command('quality')
    .description("measure a stream's quality (VMAF) and bytes per segment with your ffmpeg")
    .requiredOption('--source <video>', 'what the stream was encoded from')
    .requiredOption('--stream <manifest>', 'MPD or HLS playlist, on disk with its segments')
    .requiredOption('--out <file>', 'where the qualities go as JSON; <file>.part has them until all are measured')
    .option('--ffmpeg <path>', 'ffmpeg with the filter libvmaf', 'ffmpeg')
    .addOption(choice('--displayed-lines <n>', lines, ['1080', '2160']))
    .addOption(new Option('--jobs <n>', 'processes to measure with').default(String(io.defaultJobs), 'one per CPU'))
    .action((flags: QualityFlags) => quality(flags, io));
}

async function quality(flags: QualityFlags, io: CommandIo): Promise<void> {
  const { source, stream, out, ffmpeg, displayedLines } = flags;
  const jobs = jobsOption(flags.jobs);
  requireWritable(out);
  // The import is here, so that other commands start without the parser of XML.
  const { readStream } = await import('./stream.ts');
  const representations = readStream(stream);
  await requireVmaf({ ffmpeg });
  const progressFile = `${out}.part`;
  const measured = await withProgress(io, 'segments', (watch) =>
    measureQuality(
      {
        ...{ source, stream, representations, ffmpeg, jobs, progressFile },
        ...(displayedLines && { displayedLines: Number(displayedLines) as 1080 | 2160 }),
      },
      { ...watch, onResume: (done) => io.stderr.write(`goes on after ${count(done, 'segment')}\n`) },
    ),
  );
  writeFileAtomically(out, `${JSON.stringify(measured)}\n`);
  rmSync(progressFile);
  io.stderr.write(`${count(representations.length, 'representation')} in ${out}\n`);
}
