/** `leo-abr bench`: compares algorithms in a real browser, on replayed traces, in real time. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { InputError } from '../abr/errors.ts';
import type { ModelFile } from '../predictor/forecast/model-file.ts';
import { BROWSER_ALGORITHMS, browserAlgorithm, nameInPlayer } from '../replay/browser/algorithms.ts';
import { type BenchNotes, benchNotesOf } from '../replay/browser/bench-notes.ts';
import { BrowserNotFoundError } from '../replay/browser/find-browser.ts';
import { TOLERATED_LATE_SHARE } from '../replay/browser/lateness.ts';
import type { PlayedSession } from '../replay/browser/played-session.ts';
import { defaultContexts, runBench } from '../replay/browser/run-bench.ts';
import { sameJson } from '../replay/evaluation/same-json.ts';
import { PLAYERS } from '../replay/forecasters.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { Household } from '../replay/households.ts';
import { presentation } from '../replay/media/index.ts';
import type { SessionResult } from '../replay/results.ts';
import { KernelLink, type KernelTier } from '../transport/kernel-link.ts';
import { impairmentNamed } from '../transport/kernel-steps.ts';
import {
  allowCongestionControl,
  CONGESTION_CONTROLS,
  kernelTierObstacle,
  quicCongestion,
  quicTierObstacle,
} from '../transport/programs.ts';
import {
  addBenchmarkOptions,
  type Benchmark,
  benchmarkJson,
  leavePartial,
  prepareBenchmark,
} from './benchmark-options.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT_FAULT, EXIT_REJECTED, ExitWith } from './exit-status.ts';
import { decimalNumber, wholeNumber } from './options.ts';
import { Progress } from './progress.ts';
import { summaryTable } from './report/summary-table.ts';
import { requireWritable, STANDARD_OUTPUT, writeOutput } from './results-file.ts';
import { TOOL_FOLDER } from './tool.ts';

/** Folders to look for the built page in: beside the built command, and the build's output when run from source. */
const PAGE_DIRECTORIES = [join(TOOL_FOLDER, 'bench-page'), join(TOOL_FOLDER, 'dist', 'bench-page')];
const TIERS = ['origin', 'kernel', 'quic'] as const;

interface BenchFlags {
  player: string;
  tier: string;
  congestion: string;
  impairment: string;
  contexts?: string;
  lateShare: string;
  household?: string;
  raw?: string;
}

export function benchCommand(io: CommandIo): Command {
  return addBenchmarkOptions(new Command('bench'))
    .description('replay traces in a real browser and compare algorithms')
    .option(
      '--player <name>',
      `${PLAYERS.join(', ')}: dash.js, hls.js or Shaka Player, for algorithms without @<player>`,
      'dash',
    )
    .option(
      '--tier <name>',
      "origin: an HTTP server paces the bytes; kernel: a link under the kernel's TCP (Linux, root); quic: the same link under HTTP/3 (and cargo)",
      'origin',
    )
    .option(
      '--congestion <name>',
      `congestion control of the server; tier kernel: ${CONGESTION_CONTROLS.join(', ')}; tier quic: cubic, reno, bbr2, bbr2:probe-rtt=<ms>,loss=<share>`,
      'cubic',
    )
    .option(
      '--impairment <name>',
      "tiers kernel and quic: loss and delay besides the trace's rates, starlink or none, with changes such as starlink,loss=0.02",
      'starlink',
    )
    .option(
      '--contexts <n>',
      'sessions at the same time, one household at least (default: 4 for ladders above 30 Mbit/s and live streams, else 8)',
    )
    .option(
      '--late-share <share>',
      'largest share of downloads in a session that may end late; it is rejected and repeated above it',
      String(TOLERATED_LATE_SHARE),
    )
    .option('--raw <file>', 'file for every decision, request and stall, a line per session (default: beside --out)')
    .addHelpText(
      'after',
      `\nAlgorithms: ${BROWSER_ALGORITHMS.join(', ')}; any controller as <name>@oracle;\n` +
        'in hls.js and Shaka Player the controllers, and hls or shaka, which is their own ABR;\n' +
        'of live streams any as <name>:fixed-slots or <name>:lolp-catch-up',
    )
    .action((flags: unknown) => bench(flags as BenchFlags, io));
}

async function bench(flags: BenchFlags, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const { benchmark, kernel, notes } = await prepareBench(flags, io);
  const { perLine, timings, remains: sessions, scenario, own, foldModels } = benchmark;
  const sink = new SessionSink(benchmark, notes, { io, raw: flags.raw ?? rawBeside(benchmark.out) });
  const pageDirectory = builtPage();
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  let givenUp: number;
  try {
    const rejected = await runBench({
      ...{ sessions, scenario, pageDirectory, own, timings },
      ...(kernel && { startLink: (played) => KernelLink.start(kernel, played) }),
      // `bench` reads models of the built-in forecaster only.
      ...(foldModels && { models: foldModels as Readonly<Record<string, ModelFile>> }),
      ...{ contexts: notes.contexts, lateShare: notes.lateShare, signal: stop.signal },
      onPart: (part) => notes.parts.push(part),
      onPlayed: (all) => sink.add(all),
    });
    givenUp = rejected.length;
  } catch (error) {
    if (!(error instanceof BrowserNotFoundError)) throw error;
    stderr.write(`leo-abr: ${error.message}\n`);
    throw new ExitWith(EXIT_FAULT);
  } finally {
    stopListening();
  }
  const { played, progress, withNotes } = sink;
  progress.end(played.length / perLine);
  stderr.write(`${notes.rejectedRuns} runs were rejected because downloads came late\n`);

  const isComplete = benchmark.done.length + played.length === benchmark.plan.sessions.length * perLine;
  if (!isComplete) {
    if (givenUp === 0) leavePartial(withNotes, played, io, 'interrupted');
    leavePartial(
      withNotes,
      played,
      io,
      `${givenUp} ${unitOf(benchmark)} were rejected at every attempt`,
      EXIT_REJECTED,
    );
  }
  const { results, json } = benchmarkJson(withNotes, played, true);
  writeOutput(benchmark.out, json, io.stdout);
  stderr.write(summaryTable(results));
  if (results.sessions.some(({ endedBy }) => endedBy === 'fault')) throw new ExitWith(EXIT_FAULT);
}

/** Checks every flag before the first session. */
async function prepareBench(flags: BenchFlags, { stderr }: CommandIo) {
  const tier = TIERS.find((name) => name === flags.tier);
  if (tier === undefined) throw new InputError('--tier', `one of ${TIERS.join(', ')}`, flags.tier);
  const player = PLAYERS.find((name) => name === flags.player);
  if (player === undefined) throw new InputError('--player', `one of ${PLAYERS.join(', ')}`, flags.player);
  const kernel = tier === 'origin' ? undefined : kernelOption(tier, flags);
  const benchmark = await prepareBenchmark('bench', flags, {
    requireAlgorithm: (name, { flag }) => browserAlgorithm(name, flag),
    nameOf: (name) => nameInPlayer(name, player),
    stderr,
  });
  if (benchmark.household !== undefined) requireEqualShares(benchmark.household);
  requireMedia(benchmark.scenario);
  const chosenContexts = () =>
    flags.contexts === undefined
      ? defaultContexts(benchmark.scenario)
      : wholeNumber(flags.contexts, '--contexts', { min: 1, max: 64 });
  const contexts = kernel === undefined ? chosenContexts() : 1;
  const lateShare = decimalNumber(flags.lateShare, '--late-share', {
    expected: 'a share from 0 to 1',
    holds: (share) => share <= 1,
  });
  requireSameTier(benchmark, tier, kernel);
  const notes: BenchNotes = {
    ...{ rejectedRuns: 0, parts: [] },
    ...(benchmark.resumedTool && benchNotesOf(benchmark.resumedTool)),
    tier,
    ...(kernel && { kernel: { congestionControl: kernel.congestionControl, impairment: kernel.impairment } }),
    contexts,
    lateShare,
  };
  return { benchmark, kernel, notes };
}

function builtPage(): string {
  const found = PAGE_DIRECTORIES.find((directory) => existsSync(join(directory, 'index.html')));
  if (found !== undefined) return found;
  throw new Error(`the benchmark's page is not built (npm run build): nothing in ${PAGE_DIRECTORIES.join(', ')}`);
}

function unitOf({ household }: Benchmark): string {
  return household ? 'households' : 'sessions';
}

/** Takes the sessions as they end: keeps the accepted ones, and writes partial results and raw records. */
class SessionSink {
  readonly played: SessionResult[] = [];
  readonly progress: Progress;
  readonly #raw: RawFile;

  constructor(
    private readonly benchmark: Benchmark,
    private readonly notes: BenchNotes,
    private readonly options: { io: CommandIo; raw: string | undefined },
  ) {
    this.#raw = new RawFile(options.raw, benchmark.done.length > 0);
    this.progress = new Progress(options.io.stderr, benchmark.remains.length, unitOf(benchmark));
  }

  /** The benchmark with the notes so far. */
  get withNotes(): Benchmark {
    return { ...this.benchmark, tool: { ...this.benchmark.tool, bench: this.notes } };
  }

  add(sessions: readonly PlayedSession[]): void {
    const { notes, played, benchmark } = this;
    const { io } = this.options;
    for (const session of sessions) {
      this.#raw.append(session);
      report(session, io);
      if (session.rejected === undefined) played.push(session.result);
      else notes.rejectedRuns++;
      const { userAgent, playerVersion } = session.record;
      notes.userAgent = userAgent;
      const { player } = browserAlgorithm(session.planned.algorithm);
      notes.playerVersions = { ...notes.playerVersions, [player]: playerVersion };
    }
    this.progress.update(played.length / benchmark.perLine);
    // A killed command loses only what was under way.
    if (benchmark.out !== STANDARD_OUTPUT) {
      writeOutput(benchmark.out, benchmarkJson(this.withNotes, played, false).json, io.stdout);
    }
  }
}

function requireEqualShares({ players, traffic }: Household): void {
  const weight = [...players, ...traffic].map((one) => one.weight).find((one) => one !== 1);
  if (weight !== undefined)
    throw new InputError('--household', 'weights of 1: browsers share the link equally', weight);
}

/** Throws before the first session if media cannot be generated in the scenario's segment sizes. */
function requireMedia({ ladderBps, segmentSeconds, segmentSizesBits, live }: Benchmark['scenario']): void {
  presentation({ ladderBps, segmentSeconds, segmentSizesBits, ...(live && { live }) });
}

/** Prints what went wrong in a session. */
function report({ planned, attempt, rejected, result, inconsistencies }: PlayedSession, { stderr }: CommandIo): void {
  const { household } = result;
  const seat = household ? ` as player ${household.player} of ${household.name}` : '';
  const name = `${planned.algorithm}${seat} on ${planned.trace.name} at ${planned.startSeconds} s`;
  if (rejected !== undefined) stderr.write(`rejected (attempt ${attempt}): ${name}: ${rejected}\n`);
  if (result.fault !== undefined) stderr.write(`fault: ${name}: ${result.fault}\n`);
  for (const difference of inconsistencies) stderr.write(`inconsistent: ${name}: ${difference}\n`);
}

/** JSON lines with the full record of each session, accepted or rejected. The first session creates the file. */
class RawFile {
  private readonly file: string | undefined;
  private isBegun: boolean;

  constructor(file: string | undefined, isContinued: boolean) {
    this.file = file;
    this.isBegun = isContinued;
    if (file !== undefined) requireWritable(file, '--raw');
  }

  append({ planned, ...session }: PlayedSession): void {
    if (this.file === undefined) return;
    const { trace, ...rest } = planned;
    const line = { ...rest, trace: trace.name, dataset: trace.metadata.dataset, ...session };
    writeFileSync(this.file, `${JSON.stringify(line)}\n`, { flag: this.isBegun ? 'a' : 'w' });
    this.isBegun = true;
  }
}

function rawBeside(out: string): string | undefined {
  return out === STANDARD_OUTPUT ? undefined : `${out.replace(/\.json$/, '')}.raw.jsonl`;
}

/** The flags of the tiers with an emulated link. Throws if one is wrong, or if this machine cannot run the tier. */
function kernelOption(
  tier: KernelTier['tier'],
  { congestion, impairment: given, contexts, household }: BenchFlags,
): KernelTier {
  const impairment = impairmentNamed(given);
  if (contexts !== undefined && contexts !== '1') {
    throw new InputError('--contexts', `1 with --tier ${tier}: there is one link`, contexts);
  }
  if (tier === 'quic' && household !== undefined) {
    throw new InputError(
      '--household',
      '--tier origin or kernel: the quic tier plays one session at a time',
      household,
    );
  }
  if (tier === 'quic') quicCongestion(congestion);
  else if (!CONGESTION_CONTROLS.includes(congestion)) {
    throw new InputError('--congestion', `one of ${CONGESTION_CONTROLS.join(', ')}`, congestion);
  }
  const obstacle = tier === 'quic' ? quicTierObstacle() : (kernelTierObstacle() ?? allowCongestionControl(congestion));
  if (obstacle === undefined) return { tier, congestionControl: congestion, impairment };
  throw new InputError('--tier', 'origin on this machine', undefined, `"${tier}": ${obstacle}`);
}

/** One file holds sessions of one tier, so `--resume` must continue the same tier. */
function requireSameTier({ resumedTool, out }: Benchmark, tier: string, kernel: KernelTier | undefined): void {
  const earlier = resumedTool && benchNotesOf(resumedTool);
  if (earlier === undefined) return;
  const name = (one: string, control: string | undefined) => (control === undefined ? one : `${one} with ${control}`);
  const [was, is] = [name(earlier.tier, earlier.kernel?.congestionControl), name(tier, kernel?.congestionControl)];
  if (was === is && sameJson(earlier.kernel?.impairment, kernel?.impairment)) return;
  throw new InputError(
    placeOf({ file: out, field: 'tool.bench' }),
    `sessions of tier ${is} to resume`,
    undefined,
    `those of ${was}`,
  );
}
