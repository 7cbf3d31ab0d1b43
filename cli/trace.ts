/** `leo-abr trace`: inspects, synthesizes and records traces. */

import { Command } from 'commander';
import { readTraces, writeTrace } from '../replay/formats/trace-files.ts';
import { synthesizeShippedTraces } from '../replay/link-model/shipped-traces.ts';
import { PRESETS, type Preset, synthesizeTrace } from '../replay/link-model/synthesize-trace.ts';
import { traceInfoTable } from '../replay/link-model/trace-info.ts';
import type { Trace } from '../replay/trace.ts';
import { recordCommand } from './record/record.ts';
import { count } from './report/format.ts';
import type { CommandIo } from './shared/command-io.ts';
import { choice, decimalNumber, seedOption, wholeNumber } from './shared/options.ts';

export function traceCommand(io: CommandIo): Command {
  return new Command('trace')
    .description('inspect, synthesize and record traces')
    .addCommand(infoCommand(io))
    .addCommand(synthesizeCommand(io))
    .addCommand(recordCommand(io));
}

function infoCommand(io: CommandIo): Command {
  return new Command('info')
    .description('statistics per trace: rates, outages, epoch boundary')
    .argument('<path...>', 'trace files, or folders with all below them')
    .action((paths: string[]) => {
      const traces = readTraces(paths, { onNote: (note) => io.stderr.write(`${note}\n`) });
      io.stdout.write(traceInfoTable(traces));
    });
}

function synthesizeCommand(io: CommandIo): Command {
  return new Command('synthesize')
    .description('generate synthetic traces; the same flags give the same bytes')
    .addOption(choice('--preset <name>', 'kind of link', PRESETS, 'stationary'))
    .option('--seed <n>', 'seed of the first trace; the others follow', '1')
    .option('--count <n>', 'number of traces', '1')
    .option('--duration <seconds>', 'length of each trace', '600')
    .option('--step <seconds>', 'spacing of the samples, a multiple of 0.1', '1')
    .option('--mbps <rate>', 'mean rate of a preset that is not Starlink')
    .option('--shipped', 'write the set in the package; ignores the flags above')
    .requiredOption('--out <folder>', 'where the files go')
    .action((flags: SynthesizeFlags) => {
      const traces = flags.shipped === true ? synthesizeShippedTraces() : synthesized(flags);
      for (const trace of traces) writeTrace(trace, flags.out);
      io.stderr.write(`${count(traces.length, 'trace')} in ${flags.out}\n`);
    });
}

type SynthesizeFlags = Record<'seed' | 'count' | 'duration' | 'step' | 'out', string> & {
  preset: Preset;
  mbps?: string;
  shipped?: boolean;
};

const MAX_COUNT = 10_000;

function synthesized({ preset, ...flags }: SynthesizeFlags): Trace[] {
  const seed = seedOption(flags.seed);
  const count = wholeNumber(flags.count, '--count', { min: 1, max: Math.min(MAX_COUNT, 0x100000000 - seed) });
  const number = (name: 'duration' | 'step' | 'mbps', unit: string) =>
    decimalNumber(flags[name] ?? '', `--${name}`, `a number of ${unit}`);
  const options = {
    ...{ preset, durationSeconds: number('duration', 'seconds'), stepSeconds: number('step', 'seconds') },
    ...(flags.mbps !== undefined && { mbps: number('mbps', 'Mbit/s') }),
  };
  return Array.from({ length: count }, (_, i) => synthesizeTrace({ ...options, seed: seed + i }));
}
