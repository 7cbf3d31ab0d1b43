/** The flags that `simulate` and `bench` share, validated into one fully specified benchmark. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { describeValue, InputError } from '../../abr/errors.ts';
import { bundleAlgorithms } from '../../replay/bundle-algorithms.ts';
import { assembleResults, partialHeadJson, resultsPieces } from '../../replay/evaluation/documents/assemble-results.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import {
  type BenchmarkPlan,
  type PlannedSession,
  parseShard,
  planBenchmark,
  resumePlan,
} from '../../replay/evaluation/plan/plan.ts';
import { neededOfTraces, parseStarts, type StartsRule } from '../../replay/evaluation/plan/starts.ts';
import { isOnnx, splitAlgorithm } from '../../replay/forecasters.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { SessionStore, sessionLine } from '../../replay/formats/session-store.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import { HOUSEHOLDS, type Household, householdNamed, parseHousehold } from '../../replay/households.ts';
import type { OnnxModels } from '../../replay/onnx-model.ts';
import {
  importOwnAlgorithms,
  isOwnAlgorithm,
  type OwnAlgorithm,
  type OwnControllers,
} from '../../replay/own-algorithm.ts';
import type { ResolvedScenario, Results, SessionResult, ToolInfo } from '../../replay/results.ts';
import { encoderEdgeSeconds, SCENARIOS, type Scenario } from '../../replay/scenarios.ts';
import type { ModelsByGroup } from '../../replay/simulator/threads/run-sessions.ts';
import type { Trace } from '../../replay/trace.ts';
import { summaryTable } from '../report/summary-table.ts';
import type { CommandIo, Output } from '../shared/command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from '../shared/exit-status.ts';
import {
  collect,
  decimalNumber,
  foldModelsOption,
  scenarioOption,
  seedOption,
  wholeNumber,
} from '../shared/options.ts';
import { fileOf, printTable, readInput, readResults, requireWritable, writeOutput } from '../shared/results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from '../tool.ts';
import { onnxModels } from './onnx-models.ts';

interface Flags {
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

export interface Benchmark {
  scenario: ResolvedScenario;
  household: Household | undefined;
  algorithms: readonly string[];
  own: readonly OwnAlgorithm[];
  onnx: OnnxModels | undefined;
  plan: BenchmarkPlan;
  /** Sessions that a line of the plan plays. */
  perLine: number;
  /** Finished sessions that `--resume` found in `out`. */
  done: SessionResult[];
  remains: PlannedSession[];
  timings: boolean;
  /** Recording group to model file. */
  foldModels: ModelsByGroup | undefined;
  tool: ToolInfo;
  /** `tool` of the partial results that `--resume` continues. */
  resumedTool?: ToolInfo;
  /** A file, `-` for standard output; undefined: only the table is printed. */
  out: string | undefined;
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

interface Surroundings {
  /** Throws for a name that the command cannot play. */
  requireAlgorithm(name: string, asked: { own: OwnControllers; flag: string }): void;
  /** The name in plan and results of a name in a flag. Default: the same. */
  nameOf?(name: string): string;
  stderr: Output;
}

/** Checks every flag and the output file before the first session. */
export async function prepareBenchmark(
  command: 'simulate' | 'bench',
  given: unknown,
  surroundings: Surroundings,
): Promise<Benchmark> {
  const flags = given as Flags;
  const { out } = flags;
  const { nameOf = (name: string) => name, stderr } = surroundings;
  const algorithms = flags.algorithms.split(',').map((name) => nameOf(name.trim()));
  const baseline = nameOf(flags.baseline);
  const household = flags.household === undefined ? undefined : householdOption(flags.household);
  const { scenario, own, onnx } = await checkAlgorithms({ algorithms, baseline, household }, flags, surroundings);
  const starts = parseStarts(flags.starts);
  const seed = seedOption(flags.seed);
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard);
  if (flags.resume === true && fileOf(out) === undefined) {
    throw new InputError('--resume', 'an --out file to continue', undefined, out ? 'standard output' : 'none');
  }
  requireWritable(out);

  const traces = readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) });
  const foldModels = flags.foldModels === undefined ? undefined : foldModelsOption(flags.foldModels, traces);
  const plan = planBenchmark({
    ...{ traces, scenario, starts, algorithms, seed },
    ...(shard && { shard }),
    ...(household && { household }),
  });
  noteLeftOut(plan, scenario, stderr);
  const tool: ToolInfo = {
    ...{ name: TOOL_NAME, version: TOOL_VERSION, command, commit: toolCommit(), seed, baseline, starts: flags.starts },
    ...(household && { household }),
    ...(plan.leftOut.length > 0 && { leftOut: plan.leftOut }),
    ...(foldModels && { foldModels: flags.foldModels }),
    ...(shard && {
      shard: `${shard.index}/${shard.count}`,
      work: workDigest(traces, { starts, algorithms, foldModels }),
    }),
    ...algorithmFiles(own, onnx),
  };
  const perLine = household?.players.length ?? 1;
  const progress = flags.resume === true ? resumed(plan, perLine, { out: out!, scenario, tool, stderr }) : undefined;
  return {
    ...{ scenario, household, algorithms, own, onnx, foldModels, out, plan, perLine, tool },
    timings: flags.timings === true,
    ...(progress ?? { done: [], remains: plan.sessions }),
  };
}

async function checkAlgorithms(
  { algorithms, baseline, household }: Pick<Benchmark, 'algorithms' | 'household'> & { baseline: string },
  flags: Flags,
  { requireAlgorithm }: Surroundings,
): Promise<Pick<Benchmark, 'scenario' | 'own' | 'onnx'>> {
  const seated = (household?.players ?? []).flatMap(({ algorithm }) => algorithm ?? []);
  const named = [
    ...algorithms.map((name) => ({ name, flag: '--algorithms' })),
    { name: baseline, flag: '--baseline' },
    ...seated.map((name) => ({ name, flag: '--household' })),
  ].map((one) => ({ ...one, ...splitAlgorithm(one.name, one.flag) }));
  const own = await bundleAlgorithms(named.map(({ controller }) => controller).filter(isOwnAlgorithm));
  const controllers = await importOwnAlgorithms(own);
  const scenario = scenarioOf(flags);
  for (const { name, flag, catchUp } of named) {
    requireAlgorithm(name, { own: controllers, flag });
    if (catchUp !== undefined && scenario.live === undefined) {
      throw new InputError(flag, 'a catch-up only in a live scenario', name);
    }
  }
  const forecasters = named.map(({ forecaster }) => forecaster).filter(isOnnx);
  return { scenario, own, onnx: await onnxModels(forecasters, '--algorithms') };
}

/** SHA-256 of the user's files: algorithms and models. */
function algorithmFiles(own: Benchmark['own'], onnx: Benchmark['onnx']): Pick<ToolInfo, 'algorithmFiles'> {
  const models = Object.entries(onnx?.files ?? {}).filter(([name]) => name !== 'onnx');
  const files = [
    ...own.map(({ name, source }) => [name, sha256(source)]),
    ...models.map(([name, bytes]) => [name, sha256(bytes)]),
  ];
  return files.length === 0 ? {} : { algorithmFiles: Object.fromEntries(files) };
}

/** The results document. `complete` false marks partial results, which `--resume` continues. */
export function benchmarkJson(
  benchmark: Benchmark,
  played: readonly SessionResult[],
  complete: boolean,
): { results: Results; json: Iterable<string> } {
  const { tool, scenario, algorithms, done } = benchmark;
  const results = assembleResults({
    tool: complete ? tool : { ...tool, complete: false },
    scenario,
    sessions: [...done, ...played],
    algorithms,
  });
  return { results, json: resultsPieces(results) };
}

interface Missing {
  why: string;
  status: number;
  /** Sessions, or lines of households, that will not be played. */
  lost?: readonly PlannedSession[];
}

/** Missing sessions make the results partial and end the command with `status`; `why` says what happened. */
export function finishBenchmark(
  benchmark: Benchmark,
  played: readonly SessionResult[],
  { stdout, stderr }: CommandIo,
  { why, status, lost = [] }: Missing = { why: 'interrupted', status: EXIT_INTERRUPTED },
): Results {
  const { out, done, plan, perLine } = benchmark;
  const isComplete = done.length + played.length >= plan.sessions.length * perLine;
  const { results, json } = benchmarkJson(benchmark, played, isComplete);
  const file = fileOf(out);
  if (file !== undefined || (isComplete && out !== undefined)) writeOutput(out!, json, stdout);
  if (isComplete) {
    printTable(summaryTable(results), out, { stdout, stderr });
    return results;
  }
  const hint =
    file === undefined
      ? 'nothing was written; with --out <file> it could be resumed'
      : `${file} holds the finished sessions, --resume continues it`;
  stderr.write(`${why}: ${hint}\n`);
  if (lost.length > 0) {
    const isLost = ({ dataset, trace: name, startSeconds }: SessionResult) =>
      lost.some(
        ({ trace, ...at }) =>
          trace.name === name && trace.metadata.dataset === dataset && at.startSeconds === startSeconds,
      );
    const kept = (all: readonly SessionResult[]) => all.filter((session) => !isLost(session));
    const names = lost.map(
      ({ algorithm, trace, startSeconds }) => `${algorithm} on ${trace.name} at ${startSeconds} s`,
    );
    stderr.write(`the table lacks, for every algorithm, the places of ${names.join(', ')}\n`);
    const rest = benchmarkJson({ ...benchmark, done: kept(done) }, kept(played), false).results;
    if (rest.sessions.length > 0) stderr.write(summaryTable(rest));
  }
  throw new ExitWith(status);
}

/** A place for finished sessions: partial results in `out`, so that a killed command loses none. */
export function sessionStore({ out, tool, scenario, done }: Benchmark): SessionStore {
  const file = fileOf(out);
  return file === undefined
    ? new SessionStore()
    : new SessionStore({ file, head: () => partialHeadJson({ tool, scenario }) + done.map(sessionLine).join('') });
}

/** SHA-256 of what the shards of a run must have in common, and the fields of results do not show. */
function workDigest(
  traces: readonly Trace[],
  { foldModels, ...rest }: { starts: StartsRule; algorithms: readonly string[]; foldModels: ModelsByGroup | undefined },
): string {
  const hash = createHash('sha256').update(JSON.stringify([rest, foldModels ?? null]));
  const names = traces.map(({ name, metadata }) => JSON.stringify([metadata.dataset, name, metadata.recordingGroup]));
  for (const i of [...names.keys()].sort((a, b) => (names[a]! < names[b]! ? -1 : 1))) {
    const { stepEndsSeconds, ratesBps } = traces[i]!;
    hash.update(names[i]!).update(stepEndsSeconds).update(ratesBps);
  }
  return hash.digest('hex');
}

function scenarioOf({ scenario: named, segments, playbackRate: rate = '1', targetLatency }: Flags): ResolvedScenario {
  const scenario = { ...scenarioOption(named) };
  const { name, live, segmentCount, segmentSeconds } = scenario;
  if (segments !== undefined) {
    const note = ` (the segments of ${name}${live ? ', with those before the join' : ''})`;
    const min = live ? Math.floor(live.timeShiftSeconds / segmentSeconds) + 1 : 1;
    scenario.segmentCount = wholeNumber(segments, '--segments', { min, max: segmentCount, note });
    scenario.segmentSizesBits = scenario.segmentSizesBits.slice(0, scenario.segmentCount);
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
function householdOption(value: string): Household {
  if (/\.json$|\//.test(value)) return parseHousehold(readInput(value, '--household'), value);
  return householdNamed(value);
}

/** Starts left out that are named. */
const MOST_NAMED = 10;

export function noteLeftOut({ leftOut }: BenchmarkPlan, scenario: Scenario, stderr: Output): void {
  if (leftOut.length === 0) return;
  const places = leftOut.map(({ trace, startSeconds, reason }) => `  ${trace} at ${startSeconds} s: ${reason}\n`);
  if (places.length > MOST_NAMED) places.splice(MOST_NAMED, Infinity, `  ...; the results name all\n`);
  stderr.write(`${leftOut.length} starts left out; expected ${neededOfTraces(scenario)}:\n${places.join('')}`);
}

/** Splits the plan into the sessions that an interrupted run of this command finished and those to play. */
function resumed(
  plan: BenchmarkPlan,
  perLine: number,
  { out: file, scenario, tool, stderr }: Pick<Benchmark, 'scenario' | 'tool'> & { out: string; stderr: Output },
): Pick<Benchmark, 'done' | 'remains' | 'resumedTool'> | undefined {
  if (!existsSync(file)) {
    stderr.write(`nothing to resume in ${file} yet\n`);
    return undefined;
  }
  const results = readResults(file, { flag: '--out', allowPartial: true });
  for (const field of ['command', 'version', 'commit', 'algorithmFiles', 'shard', 'work'] as const) {
    if (sameJson(results.tool[field], tool[field])) continue;
    throw new InputError(
      placeOf({ file, field: `tool.${field}` }),
      `${describeValue(tool[field])}: sessions of another program, shard or set of recordings do not belong in this file`,
      results.tool[field],
    );
  }
  const { done, remains } = resumePlan(plan.sessions, { file, results }, scenario);
  const total = done.length + remains.length * perLine;
  stderr.write(`${done.length} of ${total} sessions were done before`);
  stderr.write(remains.length > 0 ? '; those that were under way are played again\n' : '\n');
  return { done, remains, resumedTool: results.tool };
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
