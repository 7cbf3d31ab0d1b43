/** The flags that `simulate` and `bench` share, and the scenario and household that they name. */

import type { Command } from 'commander';
import { InputError } from '../../abr/errors.ts';
import { HOUSEHOLDS, type Household, householdNamed, parseHousehold } from '../../replay/households.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { encoderEdgeSeconds, SCENARIOS } from '../../replay/scenarios.ts';
import { collect, decimalNumber, scenarioOption, wholeNumber } from '../shared/options.ts';
import { readInput } from '../shared/results-file.ts';

export interface BenchmarkFlags {
  traces: string[];
  algorithms: string;
  scenario: string;
  segments?: string;
  /** Only `simulate` has it. */
  playbackRate?: string;
  household?: string;
  targetLatency?: string;
  starts: string;
  baseline: string;
  foldModels?: string;
  seed: string;
  shard?: string;
  timings?: boolean;
  resume?: boolean;
  out?: string;
}

export function addBenchmarkOptions(command: Command): Command {
  return command
    .requiredOption('--traces <file|folder>', 'trace files, or folders with their subfolders (repeatable)', collect)
    .requiredOption(
      '--algorithms <names>',
      'algorithms to compare, separated by commas; a path (./mine.ts) is an algorithm of your own',
    )
    .requiredOption('--scenario <name|file.json>', 'ladder, buffer, latency and QoE: a name, or a JSON file')
    .option('--segments <n>', 'play only the first n segments of the scenario')
    .option('--target-latency <s>', 'target of a live scenario, instead of its own')
    .option('--starts <rule>', 'where in a trace sessions start: every:<seconds> or at:<seconds>,...', 'at:0')
    .option('--household <name|file.json>', 'play several players at once on each link')
    .option('--baseline <algorithm>', 'algorithm that the summary compares with', 'mpc-d')
    .option('--fold-models <map.json>', 'model for each recording group, for algorithms that use one')
    .option('--seed <n>', 'seed of everything random', '1')
    .option('--shard <i/n>', 'play only part i of n; leo-abr merge joins the parts')
    .option('--timings', 'measure how long decisions take (results then differ from run to run)')
    .option('--resume', 'continue the partial results in --out')
    .option('--out <file>', 'where the results go as JSON, - for standard output (default: only the table is printed)')
    .addHelpText('after', `\nScenarios: ${Object.keys(SCENARIOS).join(', ')}.`)
    .addHelpText('after', `Households: ${Object.keys(HOUSEHOLDS).join(', ')}.`);
}

/** The scenario of `--scenario`, changed by the flags for it. */
export function scenarioOf({
  scenario: named,
  segments,
  playbackRate: rate = '1',
  targetLatency,
}: BenchmarkFlags): ResolvedScenario {
  const scenario = { ...scenarioOption(named) };
  const { name, live, segmentCount, segmentSeconds } = scenario;
  if (segments !== undefined) {
    const note = ` (the segments of ${name}${live ? ', with those before the join' : ''})`;
    const min = live ? Math.floor(live.timeShiftSeconds / segmentSeconds) + 1 : 1;
    scenario.segmentCount = wholeNumber(segments, '--segments', { min, max: segmentCount, note });
    scenario.segmentSizesBits = scenario.segmentSizesBits.slice(0, scenario.segmentCount);
    if (scenario.qualities) scenario.qualities = scenario.qualities.slice(0, scenario.segmentCount);
  }
  const playbackRate = decimalNumber(rate, '--playback-rate', {
    expected: 'a number from 0.25 to 4',
    // All browsers play this range.
    holds: (value) => value >= 0.25 && value <= 4,
  });
  if (playbackRate !== 1 && live) throw new InputError('--playback-rate', `1 in a live scenario (${name})`, rate);
  // Unchanged at rate 1, so that results stay the same bytes.
  if (playbackRate !== 1) scenario.playbackRate = playbackRate;
  if (targetLatency !== undefined) {
    if (!live) throw new InputError('--target-latency', `a live scenario (${name} is on demand)`, targetLatency);
    const least = encoderEdgeSeconds(live);
    const targetLatencySeconds = decimalNumber(targetLatency, '--target-latency', {
      expected: `more than ${least} s, the latency of a chunk`,
      holds: (seconds) => seconds > least,
    });
    scenario.live = { ...live, targetLatencySeconds };
  }
  return scenario;
}

/** A value that ends in `.json` or contains a `/` is a file. */
export function householdOption(value: string): Household {
  if (/\.json$|\//.test(value)) return parseHousehold(readInput(value, '--household'), value);
  return householdNamed(value);
}
