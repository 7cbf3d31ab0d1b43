/** Turns the flags of `simulate` and `bench` into one fully specified, checked benchmark. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { check, describeValue, InputError } from '../../abr/errors.ts';
import { isOnnx, parseAlgorithm } from '../../replay/algorithms.ts';
import { bundleAlgorithms } from '../../replay/bundle-algorithms.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { type BenchmarkPlan, parseShard, planBenchmark, resumePlan } from '../../replay/evaluation/plan/plan.ts';
import { neededOfTraces, parseStarts, type StartsRule } from '../../replay/evaluation/plan/starts.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { readTraces } from '../../replay/formats/trace-files.ts';
import type { OnnxModels } from '../../replay/onnx-model.ts';
import { importOwnAlgorithms, type OwnAlgorithm, type OwnControllers } from '../../replay/own-algorithm.ts';
import type { ToolInfo } from '../../replay/results.ts';
import { type Scenario, scaleText } from '../../replay/scenarios.ts';
import type { ModelsByGroup } from '../../replay/simulator/threads/run-sessions.ts';
import type { Trace } from '../../replay/trace.ts';
import type { Output } from '../shared/command-io.ts';
import { foldModelsOption, scaled, seedOption } from '../shared/options.ts';
import { fileOf, readResults, requireWritable } from '../shared/results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from '../tool.ts';
import type { Benchmark } from './benchmark.ts';
import { type BenchmarkFlags, householdOption, scenarioOf } from './flags.ts';
import { onnxModels } from './onnx-models.ts';

interface BenchmarkSurroundings {
  /** Throws for a name that the command cannot play. */
  requireAlgorithm(name: string, own: OwnControllers, flag: string): void;
  /** Turns a name in a flag into the name in plan and results. Default: the same name. */
  nameOf?(name: string): string;
  stderr: Output;
}

/** Checks every flag and the output file before the first session. */
export async function prepareBenchmark(
  command: 'simulate' | 'bench',
  flags: BenchmarkFlags,
  surroundings: BenchmarkSurroundings,
): Promise<Benchmark> {
  const { out } = flags;
  const { nameOf = (name: string) => name, stderr } = surroundings;
  const algorithms = flags.algorithms.split(',').map((name) => nameOf(name.trim()));
  const baseline = flags.baseline === undefined ? algorithms[0]! : nameOf(flags.baseline);
  const household = flags.household === undefined ? undefined : householdOption(flags.household);
  const {
    scenario: named,
    own,
    onnx,
  } = await checkAlgorithms({ algorithms, baseline, household }, flags, surroundings);
  const starts = parseStarts(flags.starts);
  const seed = seedOption(flags.seed);
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard);
  if (flags.resume === true && fileOf(out) === undefined) {
    throw new InputError('--resume', 'an --out file to continue', undefined, out ? 'standard output' : 'none');
  }
  requireWritable(out, 'results');

  const say = (text: string) => stderr.write(text);
  const read = readTraces(flags.traces, { onNote: (note) => say(`${note}\n`) });
  const { scenario, traces } = scaled(flags, named, read, say);
  const ownSets = traces.filter(({ metadata }) => metadata.keepsRates).map(({ metadata }) => metadata.dataset);
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
    ...(ownSets.length > 0 && scaleText(scenario) && { unscaledDatasets: [...new Set(ownSets)] }),
    ...(plan.leftOut.length > 0 && { leftOut: plan.leftOut }),
    ...(foldModels && { foldModels: flags.foldModels }),
    ...(shard && {
      shard: `${shard.index}/${shard.count}`,
      work: workDigest(traces, { starts, algorithms, foldModels }),
    }),
    ...algorithmFiles(own, onnx, foldModels),
  };
  const perLine = household?.players.length ?? 1;
  const progress = flags.resume === true ? resumed(plan, perLine, { out: out!, scenario, tool, stderr }) : undefined;
  return {
    ...{ scenario, household, algorithms, own, onnx, foldModels, out, plan, perLine, tool },
    timings: flags.timings === true,
    wide: flags.wide === true,
    ...(progress ?? { done: [], remains: plan.sessions }),
  };
}

async function checkAlgorithms(
  { algorithms, baseline, household }: Pick<Benchmark, 'algorithms' | 'household'> & { baseline: string },
  flags: BenchmarkFlags,
  { requireAlgorithm }: BenchmarkSurroundings,
): Promise<Pick<Benchmark, 'scenario' | 'own' | 'onnx'>> {
  const seated = (household?.players ?? []).flatMap(({ algorithm }) => algorithm ?? []);
  const named = [
    ...algorithms.map((name) => ({ name, flag: '--algorithms' })),
    { name: baseline, flag: '--baseline' },
    ...seated.map((name) => ({ name, flag: '--household' })),
  ].map((one) => ({ ...one, ...parseAlgorithm(one.name, one.flag) }));
  const own = await bundleAlgorithms(named.filter(({ isOwn }) => isOwn).map(({ controller }) => controller));
  const controllers = await importOwnAlgorithms(own);
  const scenario = scenarioOf(flags);
  for (const { name, flag, catchUp } of named) {
    requireAlgorithm(name, controllers, flag);
    check(catchUp === undefined || scenario.live !== undefined, flag, 'a catch-up only in a live scenario', name);
  }
  const forecasters = named.map(({ forecaster }) => forecaster).filter(isOnnx);
  return { scenario, own, onnx: await onnxModels(forecasters, '--algorithms') };
}

/** Standard error names at most this many of the starts that were left out. */
const MOST_NAMED = 10;

export function noteLeftOut({ leftOut }: BenchmarkPlan, scenario: Scenario, stderr: Output): void {
  if (leftOut.length === 0) return;
  const places = leftOut.map(({ trace, startSeconds, reason }) => `  ${trace} at ${startSeconds} s: ${reason}\n`);
  if (places.length > MOST_NAMED) places.splice(MOST_NAMED, Infinity, `  ...; the results name all\n`);
  stderr.write(`${leftOut.length} starts left out; expected ${neededOfTraces(scenario)}:\n${places.join('')}`);
}

/** SHA-256 of the user's files: algorithms and models. */
function algorithmFiles(
  own: readonly OwnAlgorithm[],
  onnx: OnnxModels | undefined,
  foldModels: ModelsByGroup | undefined,
): Pick<ToolInfo, 'algorithmFiles'> {
  const models = Object.entries(onnx?.files ?? {}).filter(([name]) => name !== 'onnx');
  const files = [...own.map(({ name, source }): [string, string] => [name, source]), ...models];
  if (foldModels) files.push(['--fold-models', JSON.stringify(foldModels)]);
  const hashOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
  const hashes = files.map(([name, content]) => [name, hashOf(content)]);
  return hashes.length === 0 ? {} : { algorithmFiles: Object.fromEntries(hashes) };
}

/** SHA-256 of everything that the shards of a run must have in common and that no other field of results shows. */
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

/** Splits the plan into the sessions that an interrupted run of this command finished and the sessions to play. */
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
  const files = ['algorithmFiles', 'household', 'foldModels', 'shard', 'work', 'unscaledDatasets'];
  const fields = ['command', 'version', 'commit', ...files];
  for (const field of fields) {
    const why = 'sessions of another program, household, shard, model or set of recordings do not belong here';
    const expected = `${describeValue(tool[field])}: ${why}`;
    const isSame = sameJson(results.tool[field], tool[field]);
    check(isSame, placeOf({ file, field: `tool.${field}` }), expected, results.tool[field]);
  }
  const { done, remains } = resumePlan(plan.sessions, { file, results }, scenario);
  const total = done.length + remains.length * perLine;
  stderr.write(`${done.length} of ${total} sessions were done before`);
  stderr.write(remains.length > 0 ? '; those that were under way are played again\n' : '\n');
  return { done, remains, resumedTool: results.tool };
}
