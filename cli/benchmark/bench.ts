/** `leo-abr bench`: compares algorithms in a real browser, on replayed traces, in real time. */

import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { InputError } from '../../abr/errors.ts';
import type { ModelFile } from '../../predictor/forecast/model-file.ts';
import { BROWSER_ALGORITHMS, browserAlgorithm, nameInPlayer } from '../../replay/browser/algorithms.ts';
import { type BenchNotes, benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { BrowserNotFoundError } from '../../replay/browser/find-browser.ts';
import { TOLERATED_LATE_SHARE } from '../../replay/browser/record/lateness.ts';
import type { PlayedSession } from '../../replay/browser/record/session-record.ts';
import { defaultContexts, runBench } from '../../replay/browser/run-bench.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import type { PlannedSession } from '../../replay/evaluation/plan/plan.ts';
import { PLAYERS, type PlayerName } from '../../replay/forecasters.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { presentation } from '../../replay/media/presentation.ts';
import type { SessionResult } from '../../replay/results.ts';
import { KernelLink, type KernelTier } from '../../transport/kernel-link.ts';
import { impairmentNamed } from '../../transport/kernel-steps.ts';
import {
  allowCongestionControl,
  CONGESTION_CONTROLS,
  kernelTierObstacle,
  quicCongestion,
  quicTierObstacle,
} from '../../transport/programs.ts';
import { serviceOn } from '../serve/link-services.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, EXIT_REJECTED, ExitWith } from '../shared/exit-status.ts';
import { decimalNumber, wholeNumber } from '../shared/options.ts';
import { Progress } from '../shared/progress.ts';
import { fileOf, writeOutput } from '../shared/results-file.ts';
import { builtFolder } from '../tool.ts';
import {
  addBenchmarkOptions,
  type Benchmark,
  benchmarkJson,
  finishBenchmark,
  prepareBenchmark,
} from './benchmark-options.ts';

interface BenchFlags {
  player: PlayerName;
  tier: 'origin' | KernelTier['tier'];
  congestion: string;
  impairment: string;
  contexts?: string;
  lateShare: string;
  household?: string;
}

export function benchCommand(io: CommandIo): Command {
  return addBenchmarkOptions(new Command('bench'))
    .description('replay traces in a real browser and compare algorithms')
    .addOption(
      new Option('--player <name>', 'dash.js, hls.js or Shaka Player, for algorithms without @<player>')
        .choices(PLAYERS)
        .default('dash'),
    )
    .addOption(
      new Option(
        '--tier <name>',
        "origin: an HTTP server paces the bytes; kernel: a link under the kernel's TCP (Linux, root); quic: the same link under HTTP/3 (and cargo)",
      )
        .choices(['origin', 'kernel', 'quic'])
        .default('origin'),
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
    .addHelpText(
      'after',
      `\nAlgorithms: ${BROWSER_ALGORITHMS.join(', ')}; any controller as <name>@oracle,\n` +
        '<name>@onnx, <name>@onnx:<file> or <name>@service (a prediction service on the link);\n' +
        'in hls.js and Shaka Player the controllers, and hls or shaka, which is their own ABR;\n' +
        'of live streams any as <name>:lolp-catch-up',
    )
    .action((flags: unknown) => bench(flags as BenchFlags, io));
}

async function bench(flags: BenchFlags, io: CommandIo): Promise<void> {
  const { stderr } = io;
  const { benchmark, kernel, notes } = await prepareBench(flags, io);
  const { perLine, timings, remains: sessions, scenario, own, onnx, foldModels, household } = benchmark;
  const sink = new SessionSink(benchmark, notes, io);
  const stop = new AbortController();
  const stopListening = io.onInterrupt(() => stop.abort());
  let lost: readonly PlannedSession[];
  try {
    lost = await runBench({
      ...{ sessions, scenario, pageDirectory: builtFolder('bench-page', 'index.html'), own, onnx, timings },
      startService: serviceOn,
      ...(kernel && { startLink: (played) => KernelLink.start(kernel, played) }),
      // `bench` reads models of the built-in forecaster only.
      ...(foldModels && { models: foldModels as Readonly<Record<string, ModelFile>> }),
      ...{ contexts: notes.contexts, lateShare: notes.lateShare, signal: stop.signal },
      onPart: (part) => notes.parts.push(part),
      onPlayed: (all) => sink.add(all),
    });
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

  const why = `${lost.length} ${household ? 'households' : 'sessions'} were rejected at every attempt`;
  const results = finishBenchmark(
    withNotes,
    played,
    io,
    lost.length > 0 ? { why, status: EXIT_REJECTED, lost } : undefined,
  );
  if (results.sessions.some(({ endedBy }) => endedBy === 'fault')) throw new ExitWith(EXIT_FAULT);
}

async function prepareBench(flags: BenchFlags, { stderr }: CommandIo) {
  const { tier, player } = flags;
  const benchmark = await prepareBenchmark('bench', flags, {
    requireAlgorithm: (name, { flag }) => {
      if (browserAlgorithm(name, flag).forecaster !== 'service' || tier === 'origin') return;
      throw new InputError(
        flag,
        `--tier origin for @service: that of ${tier} has its link in a network of its own`,
        name,
      );
    },
    nameOf: (name) => nameInPlayer(name, player),
    stderr,
  });
  const kernel = tier === 'origin' ? undefined : kernelOption(tier, flags);
  const { scenario, resumedTool } = benchmark;
  // Throws if media cannot be generated in the scenario's segment sizes.
  presentation(scenario);
  const chosenContexts = () =>
    flags.contexts === undefined
      ? defaultContexts(scenario)
      : wholeNumber(flags.contexts, '--contexts', { min: 1, max: 64 });
  const lateShare = decimalNumber(flags.lateShare, '--late-share', {
    expected: 'a share from 0 to 1',
    holds: (share) => share <= 1,
  });
  requireSameTier(benchmark, tier, kernel);
  const notes: BenchNotes = {
    ...{ rejectedRuns: 0, parts: [] },
    ...(resumedTool && benchNotesOf(resumedTool)),
    tier,
    ...(kernel && { kernel: { congestionControl: kernel.congestionControl, impairment: kernel.impairment } }),
    contexts: kernel === undefined ? chosenContexts() : 1,
    lateShare,
  };
  return { benchmark, kernel, notes };
}

/** Takes the sessions as they end: keeps the accepted ones, and writes partial results and raw records. */
class SessionSink {
  readonly played: SessionResult[] = [];
  readonly progress: Progress;
  /** JSON lines with the full record of each session, beside the results. The first session creates the file. */
  readonly #rawFile: string | undefined;
  #rawFlag: 'w' | 'a';

  constructor(
    private readonly benchmark: Benchmark,
    private readonly notes: BenchNotes,
    private readonly io: CommandIo,
  ) {
    const { out, done, remains, household } = benchmark;
    const file = fileOf(out);
    if (file !== undefined) this.#rawFile = `${file.replace(/\.json$/, '')}.raw.jsonl`;
    this.#rawFlag = done.length > 0 ? 'a' : 'w';
    this.progress = new Progress(io.stderr, remains.length, household ? 'households' : 'sessions');
  }

  get withNotes(): Benchmark {
    return { ...this.benchmark, tool: { ...this.benchmark.tool, bench: this.notes } };
  }

  add(sessions: readonly PlayedSession[]): void {
    const { notes, played, benchmark, io } = this;
    for (const session of sessions) {
      this.#appendRaw(session);
      report(session, io);
      if (session.rejected === undefined) played.push(session.result);
      else notes.rejectedRuns++;
      const { userAgent, playerVersion } = session.record;
      const { player } = browserAlgorithm(session.planned.algorithm);
      Object.assign(notes, { userAgent, playerVersions: { ...notes.playerVersions, [player]: playerVersion } });
    }
    this.progress.update(played.length / benchmark.perLine);
    // A killed command loses only what was under way.
    const file = fileOf(benchmark.out);
    if (file !== undefined) {
      writeOutput(file, benchmarkJson(this.withNotes, played, false).json, io.stdout);
    }
  }

  #appendRaw({ planned, ...session }: PlayedSession): void {
    if (this.#rawFile === undefined) return;
    const { trace, ...rest } = planned;
    const line = { ...rest, trace: trace.name, dataset: trace.metadata.dataset, ...session };
    writeFileSync(this.#rawFile, `${JSON.stringify(line)}\n`, { flag: this.#rawFlag });
    this.#rawFlag = 'a';
  }
}

function report({ planned, attempt, rejected, result, inconsistencies }: PlayedSession, { stderr }: CommandIo): void {
  const { household } = result;
  const seat = household ? ` as player ${household.player} of ${household.name}` : '';
  const name = `${planned.algorithm}${seat} on ${planned.trace.name} at ${planned.startSeconds} s`;
  if (rejected !== undefined) stderr.write(`rejected (attempt ${attempt}): ${name}: ${rejected}\n`);
  if (result.fault !== undefined) stderr.write(`fault: ${name}: ${result.fault}\n`);
  for (const difference of inconsistencies) stderr.write(`inconsistent: ${name}: ${difference}\n`);
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
  const nameOf = (name: string, of?: { congestionControl: string }) =>
    of ? `${name} with ${of.congestionControl}` : name;
  const [was, is] = [nameOf(earlier.tier, earlier.kernel), nameOf(tier, kernel)];
  if (was === is && sameJson(earlier.kernel?.impairment, kernel?.impairment)) return;
  const place = placeOf({ file: out, field: 'tool.bench' });
  throw new InputError(place, `sessions of tier ${is} to resume`, undefined, `those of ${was}`);
}
