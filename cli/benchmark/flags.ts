/** The flags that `simulate` and `bench` share, and the scenario and household that they name. */

import type { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { HOUSEHOLDS, type Household, householdNamed, parseHousehold } from '../../replay/households.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { encoderEdgeSeconds, SCENARIOS } from '../../replay/scenarios.ts';
import { collect, decimalNumber, isFileName, SCALE, scenarioOption, WIDE, wholeNumber } from '../shared/options.ts';
import { readInput } from '../shared/results-file.ts';

export type BenchmarkFlags = Record<'algorithms' | 'scenario' | 'starts' | 'seed', string> &
  Partial<
    Record<'baseline' | 'scale' | 'segments' | 'household' | 'targetLatency' | 'foldModels' | 'shard' | 'out', string>
  > & { traces: string[]; timings?: boolean; wide?: boolean; resume?: boolean };

export function addBenchmarkOptions(command: Command): Command {
  const algorithms = 'algorithms to compare, separated by commas; a path (./mine.ts) is an algorithm of your own';
  return command
    .requiredOption('--traces <file|folder>', 'trace files, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--algorithms <names>', algorithms)
    .requiredOption('--scenario <name|file.json>', 'ladder, buffer, latency and QoE: a name, or a JSON file')
    .option('--scale <rule>', SCALE)
    .option('--segments <n>', 'play only the first n segments of the scenario')
    .option('--target-latency <s>', 'target of a live scenario, instead of its own')
    .option('--starts <rule>', 'where in a trace sessions start: every:<seconds> or at:<seconds>,...', 'at:0')
    .option('--household <name|file.json>', 'play several players at once on each link')
    .option('--baseline <algorithm>', 'algorithm that the others are compared with (default: the first)')
    .option('--fold-models <map.json>', 'model for each recording group, for algorithms that use one')
    .option('--seed <n>', 'seed of everything random', '1')
    .option('--shard <i/n>', 'play only part i of n; leo-abr merge joins the parts')
    .option('--timings', 'measure how long decisions take (results then differ from run to run)')
    .option('--resume', 'continue the partial results in --out')
    .option('--out <file>', 'where the results go as JSON, - for standard output (default: only the table is printed)')
    .option('--wide', WIDE)
    .addHelpText('after', `\nScenarios: ${Object.keys(SCENARIOS).join(', ')}.`)
    .addHelpText('after', `Households: ${Object.keys(HOUSEHOLDS).join(', ')}.`);
}

/** The scenario of `--scenario`, changed by the flags for it. */
export function scenarioOf({ scenario: named, segments, targetLatency }: BenchmarkFlags): ResolvedScenario {
  const scenario = { ...scenarioOption(named) };
  const { name, live, segmentCount, segmentSeconds } = scenario;
  if (segments !== undefined) {
    const note = ` (the segments of ${name}${live ? ', with those before the join' : ''})`;
    const min = live ? Math.floor(live.timeShiftSeconds / segmentSeconds) + 1 : 1;
    scenario.segmentCount = wholeNumber(segments, '--segments', { min, max: segmentCount, note });
    scenario.segmentSizesBits = scenario.segmentSizesBits.slice(0, scenario.segmentCount);
    if (scenario.qualities) scenario.qualities = scenario.qualities.slice(0, scenario.segmentCount);
  }
  if (targetLatency !== undefined) {
    const flag = '--target-latency';
    if (!live) throw new InputError(flag, `a live scenario (${name} is on demand)`, targetLatency);
    const least = encoderEdgeSeconds(live);
    const expected = `more than ${least} s, the latency of a chunk`;
    const targetLatencySeconds = decimalNumber(targetLatency, flag, expected, (seconds) => seconds > least);
    scenario.live = { ...live, targetLatencySeconds };
  }
  return scenario;
}

export function householdOption(value: string): Household {
  return isFileName(value) ? parseHousehold(readInput(value, '--household'), value) : householdNamed(value);
}
