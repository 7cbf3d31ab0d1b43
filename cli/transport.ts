/** `leo-abr transport`: compares congestion controls over HTTP/3 by downloads without a browser. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../abr/errors.ts';
import { parseShard, planBenchmark } from '../replay/evaluation/plan.ts';
import { sameJson } from '../replay/evaluation/same-json.ts';
import { parseStarts } from '../replay/evaluation/starts.ts';
import { DEFAULT_FLOWS, parseFlows, placeOfRow, type SweepRow } from '../replay/evaluation/transport-sweep.ts';
import { placeOf } from '../replay/formats/place.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { writeFilesAtomically } from '../replay/formats/write-file.ts';
import { download } from '../replay/kernel/download.ts';
import { impairmentNamed, kernelSteps } from '../replay/kernel/kernel-steps.ts';
import { quicTierObstacle, transportProgram } from '../replay/kernel/transport-program.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT_INTERRUPTED, ExitWith } from './exit-status.ts';
import { collect, decimalNumber, seedOption } from './flags.ts';
import { Progress } from './progress.ts';
import { readJson, requireWritable, requireWritableFolder, writeOutput } from './results-file.ts';
import { scenarioOption } from './scenario-option.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from './tool.ts';

/** What `sweep` writes and `report` reads. */
export interface SweepFile {
  tool: { name: string; version: string; commit: string | null; command: 'transport sweep'; seed: number };
  /** Its scale and RTT determine the links. */
  scenario: string;
  impairment: string;
  /** Of each download. */
  seconds: number;
  rows: SweepRow[];
}

interface SweepFlags {
  traces: string[];
  scenario: string;
  starts: string;
  flows?: string[];
  seconds: string;
  impairment: string;
  seed: string;
  shard?: string;
  resume?: boolean;
  out: string;
}

export function transportCommand(io: CommandIo): Command {
  const sweep = new Command('sweep')
    .description('download over HTTP/3 with every setting on every link (Linux, root, cargo)')
    .requiredOption('--traces <file|folder>', 'trace files, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--scenario <name|file.json>', 'its scale of the traces and its RTT are those of the links')
    .requiredOption('--out <file>', 'where the results go, after each download')
    .option('--starts <rule>', 'where in a trace downloads start: every:<seconds> or at:<seconds>,...', 'at:0')
    .option(
      '--flows <setting>',
      'such as bbr2 or 8*cubic+8*bbr2 (repeatable; default: a grid of bbr2 and others)',
      collect,
    )
    .option('--seconds <s>', 'duration of each download', '20')
    .option('--impairment <name>', "loss and delay besides the trace's rates, starlink or none", 'starlink')
    .option('--seed <n>', 'seed of the losses', '1')
    .option('--shard <i/n>', 'play only part i of n; report joins the parts')
    .option('--resume', 'continue the results in --out')
    .action((flags: SweepFlags) => runSweep(flags, io));
  const report = new Command('report')
    .description('write sweeps as a page with heat maps, and as Markdown')
    .argument('<sweep.json...>', 'results of sweep: shards, or other settings on the same links')
    .requiredOption('--out <folder>', 'folder for index.html and report.md')
    .action((files: string[], { out }: { out: string }) => writeReport(files, out));
  return new Command('transport')
    .description('compare congestion controls over HTTP/3')
    .addCommand(sweep)
    .addCommand(report);
}

async function runSweep(flags: SweepFlags, { stderr, stdout, onInterrupt }: CommandIo): Promise<void> {
  const { flows = DEFAULT_FLOWS, out } = flags;
  for (const setting of flows) parseFlows(setting);
  const impairment = impairmentNamed(flags.impairment);
  const seconds = decimalNumber(flags.seconds, '--seconds', {
    expected: 'seconds above 1',
    holds: (value) => value > 1,
  });
  const scenario = scenarioOption(flags.scenario);
  const seed = seedOption(flags.seed);
  requireWritable(out);
  const plan = planBenchmark({
    traces: readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) }),
    scenario: { ...scenario, segmentCount: Math.ceil(seconds / scenario.segmentSeconds) },
    starts: parseStarts(flags.starts),
    algorithms: flows,
    seed,
    ...(flags.shard !== undefined && { shard: parseShard(flags.shard) }),
  });
  const obstacle = quicTierObstacle();
  if (obstacle !== undefined) throw new InputError('transport sweep', 'another machine', undefined, obstacle);
  transportProgram();

  const tool = {
    name: TOOL_NAME,
    version: TOOL_VERSION,
    commit: toolCommit(),
    command: 'transport sweep',
    seed,
  } as const;
  const file: SweepFile = { tool, scenario: scenario.name, impairment: flags.impairment, seconds, rows: [] };
  if (flags.resume === true && existsSync(out)) {
    const earlier = readSweep(out);
    requireSameLinks(earlier, file, out);
    file.rows.push(...earlier.rows);
  }
  const done = new Set(file.rows.map((row) => placeOfRow(row) + row.flows));
  let isStopped = false;
  const stopListening = onInterrupt(() => {
    isStopped = true;
  });
  const progress = new Progress(stderr, plan.sessions.length, 'downloads');
  for (const { trace, startSeconds, algorithm, seed: own } of plan.sessions) {
    const { dataset, recordingGroup: group } = trace.metadata;
    const place = { dataset, trace: trace.name, group, startSeconds, seed: own, flows: algorithm };
    if (isStopped) break;
    if (done.has(placeOfRow({ ...place, results: [] }) + algorithm)) continue;
    const link = kernelSteps(trace, scenario, { startSeconds, impairment });
    const { rttSeconds } = scenario;
    file.rows.push({
      ...place,
      results: await download(parseFlows(algorithm), { link, seed: own, rttSeconds, seconds }),
    });
    writeOutput(out, `${JSON.stringify(file)}\n`, stdout);
    progress.update(file.rows.length);
  }
  stopListening();
  progress.end(file.rows.length);
  if (isStopped) throw new ExitWith(EXIT_INTERRUPTED);
}

async function writeReport(files: readonly string[], out: string): Promise<void> {
  requireWritableFolder(out);
  const sweeps = files.map((file) => ({ file, sweep: readSweep(file) }));
  const [first] = sweeps as [(typeof sweeps)[0]];
  for (const { file, sweep } of sweeps) requireSameLinks(sweep, first.sweep, file);
  const rows = sweeps.flatMap(({ sweep }) => sweep.rows);
  // Imported here, so that other commands start without the plotting library.
  const { transportDocument } = await import('./report/transport-document.ts');
  const [{ html }, { markdown }] = [await import('./report/html.ts'), await import('./report/markdown.ts')];
  const document = transportDocument({ ...first.sweep, rows });
  writeFilesAtomically([
    [join(out, 'index.html'), html(document)],
    [join(out, 'report.md'), markdown(document)],
  ]);
}

function readSweep(file: string): SweepFile {
  const sweep = readJson(file, 'sweep') as Partial<SweepFile>;
  if (sweep.tool?.command === 'transport sweep' && Array.isArray(sweep.rows)) return sweep as SweepFile;
  throw new InputError(placeOf({ file, field: 'tool.command' }), 'transport sweep', sweep.tool?.command);
}

function requireSameLinks(found: SweepFile, expected: SweepFile, file: string): void {
  for (const field of ['scenario', 'impairment', 'seconds'] as const) {
    if (!sameJson(found[field], expected[field]))
      throw new InputError(placeOf({ file, field }), String(expected[field]), found[field]);
  }
  const { seed, commit } = found.tool;
  if (seed !== expected.tool.seed)
    throw new InputError(placeOf({ file, field: 'tool.seed' }), String(expected.tool.seed), seed);
  if (commit !== expected.tool.commit)
    throw new InputError(placeOf({ file, field: 'tool.commit' }), String(expected.tool.commit), commit);
}
