/** `leo-abr bench`: compares algorithms in a real browser, on replayed traces, in real time. */

import { Command } from 'commander';
import { check } from '../../abr/errors.ts';
import { BROWSER_ALGORITHMS, nameInPlayer, PLAYERS, type PlayerName } from '../../replay/algorithms.ts';
import { browserAlgorithm } from '../../replay/browser/algorithms.ts';
import { type BenchNotes, benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { BrowserNotFoundError } from '../../replay/browser/find-browser.ts';
import { TOLERATED_LATE_SHARE } from '../../replay/browser/record/lateness.ts';
import { runBench, TooSlowError } from '../../replay/browser/run-bench.ts';
import type { PlannedSession } from '../../replay/evaluation/plan/plan.ts';
import { presentation } from '../../replay/media/presentation.ts';
import { KernelLink } from '../../transport/kernel-link.ts';
import { CONGESTION_CONTROLS } from '../../transport/programs.ts';
import { serviceOn } from '../serve/link-services.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, EXIT_REJECTED, ExitWith } from '../shared/exit-status.ts';
import { choice, decimalNumber, wholeNumber } from '../shared/options.ts';
import { builtFolder } from '../tool.ts';
import { finishBenchmark } from './finish.ts';
import { addBenchmarkOptions, type BenchmarkFlags } from './flags.ts';
import { prepareBenchmark } from './prepare.ts';
import { SessionSink } from './session-sink.ts';
import { kernelOption, requireSameTier, type TierFlags } from './tiers.ts';

type BenchFlags = BenchmarkFlags & TierFlags & { player: PlayerName; lateShare: string };

export function benchCommand(io: CommandIo): Command {
  const player = 'dash.js, hls.js or Shaka Player, for algorithms without @<player>';
  const tier =
    "origin: an HTTP server paces the bytes; kernel: a link under the kernel's TCP (Linux, root); quic: the same link " +
    'under HTTP/3 (and cargo)';
  const congestion =
    `congestion control of the server; tier kernel: ${CONGESTION_CONTROLS.join(', ')}; ` +
    'tier quic: cubic, reno, bbr2, bbr2:probe-rtt=<ms>,loss=<share>';
  const impairment =
    "tiers kernel and quic: loss and delay besides the trace's rates, starlink or none, " +
    'with changes such as starlink,loss=0.02';
  const contexts =
    'sessions at the same time, one household at least (default: as many as this host plays on time, at most 4 for ' +
    'ladders above 30 Mbit/s and live streams, else 8)';
  const lateShare = "largest share of a session's bits that may come late; it is rejected and repeated above it";
  return addBenchmarkOptions(new Command('bench'))
    .description('replay traces in a real browser and compare algorithms')
    .addOption(choice('--player <name>', player, PLAYERS, 'dash'))
    .addOption(choice('--tier <name>', tier, ['origin', 'kernel', 'quic'], 'origin'))
    .option('--congestion <name>', congestion, 'cubic')
    .option('--impairment <name>', impairment, 'starlink')
    .option('--contexts <n>', contexts)
    .option('--late-share <share>', lateShare, String(TOLERATED_LATE_SHARE))
    .addHelpText(
      'after',
      `\nAlgorithms: ${BROWSER_ALGORITHMS.join(', ')}; an mpc-l, or a file, as <name>@oracle,\n` +
        '<name>@onnx, <name>@onnx:<file> or <name>@service (a prediction service on the link);\n' +
        'in hls.js and Shaka Player the controllers, and hls or shaka, which is their own ABR;\n' +
        'of live streams any as <name>:lolp-catch-up',
    )
    .action((flags: BenchFlags) => bench(flags, io));
}

async function bench(flags: BenchFlags, io: CommandIo): Promise<void> {
  const { benchmark, kernel, notes, contexts } = await prepareBench(flags, io);
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
      ...(foldModels && { models: foldModels }),
      ...(contexts !== undefined && { contexts }),
      ...{ lateShare: notes.lateShare, signal: stop.signal },
      onPart: (part) => notes.parts.push(part),
      onPlayed: (all) => sink.add(all),
    });
  } catch (error) {
    if (!(error instanceof BrowserNotFoundError || error instanceof TooSlowError)) throw error;
    io.stderr.write(`leo-abr: ${error.message}\n`);
    throw new ExitWith(EXIT_FAULT);
  } finally {
    stopListening();
  }
  const { played, progress, withNotes } = sink;
  progress.end(played.length / perLine);
  const counts = notes.parts.at(-1)!.contexts.join(', then ');
  io.stderr.write(`${notes.rejectedRuns} runs were rejected because downloads came late; at a time ${counts} played\n`);

  const why = `${lost.length} ${household ? 'households' : 'sessions'} were rejected at every attempt`;
  const missing = lost.length > 0 ? { why, status: EXIT_REJECTED, lost } : undefined;
  const results = finishBenchmark(withNotes, played, io, missing);
  if (results.sessions.some(({ endedBy }) => endedBy === 'fault')) throw new ExitWith(EXIT_FAULT);
}

async function prepareBench(flags: BenchFlags, { stderr }: CommandIo) {
  const { tier, player } = flags;
  const benchmark = await prepareBenchmark('bench', flags, {
    requireAlgorithm: (name, _own, flag) => {
      const isOnLink = browserAlgorithm(name, flag).forecaster !== 'service' || tier === 'origin';
      check(isOnLink, flag, `--tier origin for @service: that of ${tier} has its link in a network of its own`, name);
    },
    nameOf: (name) => nameInPlayer(name, player),
    stderr,
  });
  const isPlain = flags.congestion === 'cubic' && flags.impairment === 'starlink';
  check(tier !== 'origin' || isPlain, '--tier', 'kernel or quic beside --congestion and --impairment', tier);
  const kernel = tier === 'origin' ? undefined : kernelOption(tier, flags);
  const { scenario, resumedTool } = benchmark;
  // Throws if media cannot be generated in the scenario's segment sizes.
  presentation(scenario);
  const contexts =
    kernel || flags.contexts === undefined ? undefined : wholeNumber(flags.contexts, '--contexts', { min: 1, max: 64 });
  const lateShare = decimalNumber(flags.lateShare, '--late-share', 'a share from 0 to 1', (share) => share <= 1);
  const asked = {
    ...{ tier, lateShare },
    ...(kernel && { kernel: { congestionControl: kernel.congestionControl, impairment: kernel.impairment } }),
  };
  requireSameTier(benchmark, asked);
  const notes: BenchNotes = {
    ...{ rejectedRuns: 0, parts: [] },
    ...(resumedTool && benchNotesOf(resumedTool)),
    ...asked,
  };
  return { benchmark, kernel, notes, contexts };
}
