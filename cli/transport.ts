/** `leo-abr transport`: compares congestion controls over HTTP/3 by downloads without a browser. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../abr/errors.ts';
import { parseShard, planBenchmark } from '../replay/evaluation/plan.ts';
import { sameJson } from '../replay/evaluation/same-json.ts';
import { parseStarts } from '../replay/evaluation/starts.ts';
import { placeOf } from '../replay/formats/place.ts';
import { readTraces } from '../replay/formats/trace-files.ts';
import { writeFilesAtomically } from '../replay/formats/write-file.ts';
import { type DownloadResult, download, tcpDownload } from '../transport/download.ts';
import { impairmentNamed, kernelSteps } from '../transport/kernel-steps.ts';
import { kernelTierObstacle } from '../transport/kernel-support.ts';
import {
  DEFAULT_FLOWS,
  parseFlows,
  placeOfRow,
  type SweepFile,
  type SweepRow,
  TCP_SETTINGS,
} from '../transport/sweep-ratios.ts';
import { transportObstacle, transportProgram } from '../transport/transport-program.ts';
import { noteLeftOut } from './benchmark-options.ts';
import type { CommandIo } from './command-io.ts';
import { collect, decimalNumber, jobsOption, scenarioOption, seedOption } from './options.ts';
import { withProgress } from './progress.ts';
import { readJson, requireWritable, requireWritableFolder, writeOutput } from './results-file.ts';
import { TOOL_NAME, TOOL_VERSION, toolCommit } from './tool.ts';

/** Between writes of the results. */
const SAVE_MS = 2000;

interface SweepFlags {
  traces: string[];
  scenario: string;
  starts: string;
  flows?: string[];
  seconds: string;
  impairment: string;
  seed: string;
  jobs: string;
  shard?: string;
  resume?: boolean;
  out: string;
}

export function transportCommand(io: CommandIo): Command {
  const sweep = new Command('sweep')
    .description('download over HTTP/3 with every setting on every link, in simulated time (Linux, cargo)')
    .requiredOption('--traces <file|folder>', 'trace files, or folders with their subfolders (repeatable)', collect)
    .requiredOption('--scenario <name|file.json>', 'its scale of the traces and its RTT are those of the links')
    .requiredOption('--out <file>', 'where the results go, every 2 s')
    .option('--starts <rule>', 'where in a trace downloads start: every:<seconds> or at:<seconds>,...', 'at:0')
    .option(
      '--flows <setting>',
      "such as bbr2 or 8*cubic+8*bbr2, or tcp-bbr for the kernel's TCP in real time (root) (repeatable; default: a grid of bbr2 and others)",
      collect,
    )
    .option('--seconds <s>', 'duration of each download', '20')
    .option(
      '--impairment <name>',
      "loss and delay besides the trace's rates: starlink or none, with changes such as starlink,burst-ms=20",
      'starlink',
    )
    .option('--seed <n>', 'seed of the losses', '1')
    .option('--jobs <n>', 'downloads at a time; results do not depend on it', String(io.defaultJobs))
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

async function runSweep(flags: SweepFlags, io: CommandIo): Promise<void> {
  const { stderr, stdout } = io;
  const { flows = DEFAULT_FLOWS, out } = flags;
  for (const setting of flows) parseFlows(setting);
  const impairment = impairmentNamed(flags.impairment);
  const seconds = decimalNumber(flags.seconds, '--seconds', {
    expected: 'seconds above 1',
    holds: (value) => value > 1,
  });
  const scenario = scenarioOption(flags.scenario);
  const seed = seedOption(flags.seed);
  const jobs = jobsOption(flags.jobs);
  requireWritable(out);
  const played = { ...scenario, segmentCount: Math.ceil(seconds / scenario.segmentSeconds) };
  const plan = planBenchmark({
    traces: readTraces(flags.traces, { onNote: (note) => stderr.write(`${note}\n`) }),
    scenario: played,
    starts: parseStarts(flags.starts),
    algorithms: flows,
    seed,
    ...(flags.shard !== undefined && { shard: parseShard(flags.shard) }),
  });
  noteLeftOut(plan, played, stderr);
  const isTcp = flows.some((setting) => TCP_SETTINGS.has(setting));
  const obstacle = transportObstacle() ?? (isTcp ? kernelTierObstacle() : undefined);
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
  const keyOf = (row: Parameters<typeof placeOfRow>[0], flows: string) => placeOfRow(row) + flows;
  const done = new Set(file.rows.map((row) => keyOf(row, row.flows)));
  const order = new Map(
    plan.sessions.map(({ trace, startSeconds, algorithm }, i) => {
      return [keyOf({ dataset: trace.metadata.dataset, trace: trace.name, startSeconds }, algorithm), i];
    }),
  );
  let savedAtMs = 0;
  const save = () => {
    const place = (row: SweepRow) => order.get(keyOf(row, row.flows)) ?? -1;
    file.rows.sort((a, b) => place(a) - place(b));
    writeOutput(out, `${JSON.stringify(file)}\n`, stdout);
    savedAtMs = performance.now();
  };
  const sessions = [...order].filter(([key]) => !done.has(key)).map(([, i]) => plan.sessions[i]!);
  const play = async (
    { trace, startSeconds, algorithm, seed: own }: (typeof sessions)[0],
    signal: AbortSignal,
  ): Promise<void> => {
    const { dataset, recordingGroup: group } = trace.metadata;
    const link = kernelSteps(trace, scenario, { startSeconds, impairment, seed: own });
    const options = { link, seed: own, rttSeconds: scenario.rttSeconds, seconds };
    const tcp = TCP_SETTINGS.get(algorithm);
    const results: DownloadResult[] =
      tcp === undefined ? (await download(parseFlows(algorithm), options)).results : [await tcpDownload(tcp, options)];
    // An interrupt also ends the programs of the emulated link, in the middle of the download.
    if (signal.aborted) return;
    file.rows.push({ dataset, trace: trace.name, group, startSeconds, seed: own, flows: algorithm, results });
    if (performance.now() - savedAtMs > SAVE_MS) save();
  };
  await withProgress(io, 'downloads', async ({ signal, onProgress }) => {
    const isReal = ({ algorithm }: (typeof sessions)[0]) => TCP_SETTINGS.has(algorithm);
    const [inRealTime, simulated] = [sessions.filter(isReal), sessions.filter((session) => !isReal(session))];
    for (const [queue, atATime] of [
      [simulated, jobs],
      [inRealTime, 1],
    ] as const) {
      const turns = Array.from({ length: atATime }, async () => {
        for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
          await play(next, signal);
          onProgress(file.rows.length, plan.sessions.length);
        }
      });
      await Promise.all(turns);
    }
    signal.throwIfAborted();
  }).finally(save);
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
