/**
 * Plays a plan's sessions in a browser, several side by side: all pages of a batch are loaded before the first one
 * starts, starts are staggered, and a session whose downloads came late is played again. Node only.
 */

import type { Browser } from 'playwright-core';
import type { ModelFile } from '../../predictor/built-in/model-file.ts';
import type { PlannedSession } from '../evaluation/plan.ts';
import type { KernelLink, LinkStatistics } from '../kernel/kernel-link.ts';
import { type Impairment, kernelSteps } from '../kernel/kernel-steps.ts';
import type { CongestionControl } from '../kernel/kernel-support.ts';
import { MAX_REPRESENTATIONS, videoClip } from '../media/index.ts';
import { type RequestLogEntry, type RunningOrigin, type SessionSpec, startOrigin } from '../origin/index.ts';
import type { OwnAlgorithm } from '../own-algorithm.ts';
import type { ResolvedScenario, SessionResult } from '../results.ts';
import { browserAlgorithm } from './algorithms.ts';
import type { BenchPart } from './bench-notes.ts';
import { browserSessionResult } from './browser-session-result.ts';
import { calibrate, calibrationCases, calibrationScale } from './calibration.ts';
import { inconsistencies } from './consistency.ts';
import { benchEnvironment, systemLoad } from './environment.ts';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';
import { type DownloadTiming, downloadTimings, lateShare, TOLERATED_LATE_SHARE } from './lateness.ts';
import { PAGE_PATH, servePageFiles } from './page-files.ts';
import type { SessionConfig, SessionRecord } from './session-record.ts';
import { inTurns } from './turns.ts';

export interface BenchOptions {
  sessions: readonly PlannedSession[];
  scenario: ResolvedScenario;
  /** The built page (`vite build --mode bench-page`). */
  pageDirectory: string;
  /** Default: the origin paces bytes along the trace. */
  kernel?: KernelTier;
  /** Files among the algorithms. */
  own?: readonly OwnAlgorithm[];
  /** Models of the built-in forecaster by recording group; the shipped one for a group that has none. */
  models?: Readonly<Record<string, ModelFile>>;
  /** Sessions side by side. Default: 4 where the ladder goes beyond 30 Mbit/s, else 8; there is but one kernel link. */
  contexts?: number;
  /** Times that a session is played at most. Default 4. */
  maxAttempts?: number;
  /** Waiting after which a session is given up. Default 600. */
  cutoffSeconds?: number;
  timings?: boolean;
  /** Ends the run early; sessions under way are dropped. */
  signal?: AbortSignal;
  /**
   * Seconds that the origin is calibrated for on each of two traces, before the sessions and after. Default: not at all;
   * behind a kernel link there is nothing to calibrate.
   */
  calibrationSeconds?: number;
  /** Given what is noted of this call, before anything is played; it is kept up to date until the end. */
  onPart?(part: BenchPart): void;
  /** Told of every session played, accepted or not. */
  onSession?(played: PlayedSession): void | Promise<void>;
}

/** The trace as a link between two network namespaces, under the kernel's TCP (`replay/kernel`). */
export interface KernelTier {
  congestionControl: CongestionControl;
  impairment: Impairment;
}

/** One session as it was played, whether or not it counts. */
export interface PlayedSession {
  planned: PlannedSession;
  /** From 1. */
  attempt: number;
  /** Why it does not count; undefined where it does. */
  rejected?: string;
  result: SessionResult;
  record: SessionRecord;
  timings: DownloadTiming[];
  /** What the witnesses of the session disagree on (`consistency.ts`). */
  inconsistencies: string[];
  originLog: readonly RequestLogEntry[];
  /** Of a kernel link: what it delivered, dropped and lost from the page's loading to the session's end. */
  linkStatistics?: LinkStatistics;
}

export interface BenchOutcome {
  /** Sessions that count, in the plan's order. */
  results: SessionResult[];
  /** Runs that were rejected and repeated. */
  rejectedRuns: number;
  /** Sessions that were rejected at every attempt. */
  givenUp: PlannedSession[];
  browser: { userAgent: string; dashVersion: string } | undefined;
}

const DEFAULT_MAX_ATTEMPTS = 4;
const DEFAULT_CUTOFF_SECONDS = 600;
const LARGE_LADDER_BPS = 30e6;
/** In CSS pixels: the page's video and its margin. A larger page is composed anew with every picture, which costs time. */
const VIEWPORT = { width: 384, height: 216 };

/** How many sessions this machine's size and the scenario allow side by side without disturbing each other. */
export function defaultContexts({ ladderBps }: Pick<ResolvedScenario, 'ladderBps'>): number {
  return ladderBps.at(-1)! > LARGE_LADDER_BPS ? 4 : 8;
}

interface Task {
  planned: PlannedSession;
  attempt: number;
}

/**
 * Plays everything. Rejects with an `InputError` for an algorithm that no browser can play before it starts one, and
 * with a `BrowserNotFoundError` where there is none.
 */
export async function runBench(options: BenchOptions): Promise<BenchOutcome> {
  const { sessions, scenario, signal, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
  const contexts = options.kernel !== undefined ? 1 : (options.contexts ?? defaultContexts(scenario));
  for (const algorithm of new Set(sessions.map((session) => session.algorithm))) browserAlgorithm(algorithm);

  const results = new Map<PlannedSession, SessionResult>();
  const outcome: BenchOutcome = { results: [], rejectedRuns: 0, givenUp: [], browser: undefined };
  const queue: Task[] = inTurns(sessions).map((planned) => ({ planned, attempt: 1 }));
  const { chromium } = await import('playwright-core');
  const found = await findBrowser();
  const link = options.kernel && (await startKernelLink(options.kernel, scenario));
  const origin = await startOrigin({
    fallback: servePageFiles(options.pageDirectory),
    ...(link && { socket: await link.listen() }),
  });
  const browser = await chromium.launch({
    ...found,
    ...(link && {
      executablePath: link.clientProgram(found.executablePath),
      // To a browser only loopback is as good as https; without that its clocks are coarser.
      args: [...found.args, `--unsafely-treat-insecure-origin-as-secure=${origin.url}`],
    }),
    headless: true,
  });
  const abort = () => void browser.close();
  signal?.addEventListener('abort', abort);
  const part = newPart(benchEnvironment({ version: browser.version(), source: found.source }));
  const calibration = async (when: 'before' | 'after') => {
    const { calibrationSeconds: seconds } = options;
    if (seconds === undefined || link !== undefined || signal?.aborted === true) return;
    const cases = calibrationCases(calibrationScale(scenario));
    part.calibration[when] = await calibrate({ browser, origin, cases, seconds, signal });
  };
  try {
    options.onPart?.(part);
    await requireMedia(browser, found.source);
    await calibration('before');
    while (queue.length > 0 && signal?.aborted !== true) {
      const batch = queue.splice(0, contexts);
      for (const played of await playBatch(batch, { browser, origin, link, options })) {
        const { planned, attempt, rejected, result, record } = played;
        outcome.browser ??= { userAgent: record.userAgent, dashVersion: record.dashVersion };
        update(part);
        if (rejected === undefined) {
          results.set(planned, result);
          part.sessions++;
        } else {
          outcome.rejectedRuns++;
          const { trace, startSeconds, algorithm } = planned;
          const where = { dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm };
          part.rejections.push({ ...where, attempt, reason: rejected });
          if (attempt < maxAttempts) queue.push({ planned, attempt: attempt + 1 });
          else outcome.givenUp.push(planned);
        }
        await options.onSession?.(played);
      }
    }
    await calibration('after');
    update(part);
  } catch (error) {
    // The browser was closed on purpose, while it was calibrated.
    if (signal?.aborted !== true) throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    await browser.close();
    await origin.close();
    await link?.close();
  }
  outcome.results = sessions.flatMap((planned) => results.get(planned) ?? []);
  return outcome;
}

function newPart(environment: BenchPart['environment']): BenchPart {
  const [now, load] = [new Date().toISOString(), systemLoad()];
  return {
    startedAt: now,
    endedAt: now,
    sessions: 0,
    environment,
    load: { before: load, after: load, highest: load[0]! },
    calibration: {},
    rejections: [],
  };
}

/** Time and load as they are now. */
function update(part: BenchPart): void {
  part.endedAt = new Date().toISOString();
  part.load.after = systemLoad();
  part.load.highest = Math.max(part.load.highest, part.load.after[0]!);
}

/** A browser without the codecs would fail at every session, and say less why. */
async function requireMedia(browser: Browser, source: string): Promise<void> {
  const types = [`video/mp4; codecs="${videoClip(MAX_REPRESENTATIONS - 1).codec}"`];
  const page = await browser.newPage();
  const missing = await page.evaluate(
    (asked) => asked.filter((type) => typeof MediaSource === 'undefined' || !MediaSource.isTypeSupported(type)),
    types,
  );
  await page.close();
  if (missing.length === 0) return;
  throw new BrowserNotFoundError(
    `the browser that was found (${source}) cannot play ${missing.join(', ')}: set CHROME_PATH to one that can`,
  );
}

interface Surroundings {
  browser: Browser;
  origin: RunningOrigin;
  link: KernelLink | undefined;
  options: BenchOptions;
}

/** Its module is for Linux alone. */
async function startKernelLink(
  { congestionControl }: KernelTier,
  { rttSeconds }: ResolvedScenario,
): Promise<KernelLink> {
  const { KernelLink: link } = await import('../kernel/kernel-link.ts');
  return link.start({ congestionControl, rttSeconds });
}

async function playBatch(batch: readonly Task[], surroundings: Surroundings): Promise<PlayedSession[]> {
  const { options } = surroundings;
  const { scenario, signal } = options;
  try {
    const loaded = await Promise.all(batch.map((task) => loadPage(task, surroundings)));
    const staggerMs = (scenario.segmentSeconds * 1000) / loaded.length;
    return await Promise.all(
      loaded.map(async (page, i) => {
        await new Promise((resolve) => setTimeout(resolve, i * staggerMs));
        return page.play();
      }),
    );
  } catch (error) {
    // The browser was closed on purpose.
    if (signal?.aborted === true) return [];
    throw error;
  }
}

/** Opens a page of its own for one session; `play` ends with the page closed. */
async function loadPage({ planned, attempt }: Task, { browser, origin, link, options }: Surroundings) {
  const { scenario, timings = false, cutoffSeconds = DEFAULT_CUTOFF_SECONDS } = options;
  const { trace, startSeconds, segmentCount, algorithm, seed } = planned;
  const model = options.models?.[trace.metadata.recordingGroup];
  const { controller } = browserAlgorithm(algorithm);
  const own = options.own?.find(({ name }) => name === controller);
  const session = origin.createSession({
    ...{ trace, scenario, startSeconds, segmentCount },
    ...(link && kernelSession(link, planned, options)),
  });
  const config: SessionConfig = {
    sessionUrl: `${origin.url}/session/${session.id}/`,
    algorithm,
    ...(own && { own }),
    seed,
    scenario,
    segmentCount,
    cutoffSeconds,
    ...(model && { model }),
  };
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  const pageErrors: string[] = [];
  page.on('pageerror', (error) => pageErrors.push(error.stack ?? error.message));
  await page.goto(`${origin.url}${PAGE_PATH}`);
  await page.evaluate((given) => window.leoAbrBench.prepare(given), config);
  return {
    async play(): Promise<PlayedSession> {
      const played = await page.evaluate(() => window.leoAbrBench.play());
      const record: SessionRecord =
        pageErrors.length === 0 ? played : { ...played, endedBy: 'fault', fault: played.fault ?? pageErrors[0]! };
      await context.close();
      origin.removeSession(session.id);
      link?.open();
      const linkStatistics = await link?.statistics();
      const downloads = downloadTimings(record, session.log);
      const rejected = reasonToReject(record, downloads, scenario);
      return {
        planned,
        attempt,
        ...(rejected !== undefined && { rejected }),
        result: browserSessionResult({ planned, scenario, record, timings }),
        record,
        timings: downloads,
        inconsistencies: inconsistencies(record, {
          segmentSeconds: scenario.segmentSeconds,
          segmentCount,
          hasDecisions: controller !== undefined,
        }),
        originLog: session.log,
        ...(linkStatistics && { linkStatistics }),
      };
    },
  };
}

/** The origin hands everything to the kernel at once, and the link plays the trace from the first request for a segment on. */
function kernelSession(
  link: KernelLink,
  { trace, startSeconds, seed }: PlannedSession,
  { scenario, kernel }: BenchOptions,
): Pick<SessionSpec, 'pacing' | 'onStart'> {
  const steps = kernelSteps(trace, scenario, { startSeconds, impairment: kernel!.impairment });
  return { pacing: 'none', onStart: () => link.play(steps, seed) };
}

/** A fault is a result, a busy machine is none. */
function reasonToReject(
  record: SessionRecord,
  timings: readonly DownloadTiming[],
  { browser }: ResolvedScenario,
): string | undefined {
  if (record.endedBy === 'fault') return undefined;
  const share = lateShare(timings, browser);
  if (share <= TOLERATED_LATE_SHARE) return undefined;
  return `${(100 * share).toFixed(1)} % of the downloads ended late`;
}
