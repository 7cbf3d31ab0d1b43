/**
 * Plays a plan's sessions in a browser, in concurrent batches: all pages of a batch are loaded before the first one
 * starts, starts are staggered, and a session with late downloads is played again. Node only.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { PlannedSession } from '../evaluation/plan.ts';
import { MAX_REPRESENTATIONS, videoClip } from '../media/index.ts';
import { type ReplaySession, type RunningOrigin, startOrigin } from '../origin/index.ts';
import type { ResolvedScenario } from '../results.ts';
import type { BrowserModel } from '../scenarios.ts';
import type { RunSessionsOptions } from '../simulator/run-sessions.ts';
import { linkOf } from '../simulator/session-setup.ts';
import { browserAlgorithm } from './algorithms.ts';
import type { BenchPart } from './bench-notes.ts';
import { browserSessionResult } from './browser-session-result.ts';
import { calibrate } from './calibration.ts';
import { inconsistencies } from './consistency.ts';
import type { EmulatedLink } from './emulated-link.ts';
import { benchEnvironment, systemLoad } from './environment.ts';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';
import { type DownloadTiming, downloadTimings, lateShare, modelOf, TOLERATED_LATE_SHARE } from './lateness.ts';
import { PAGE_PATH, servePageFiles } from './page-files.ts';
import type { PlayedSession } from './played-session.ts';
import { inHousehold, type Seat, seatsOf } from './seats.ts';
import type { SessionConfig, SessionRecord } from './session-record.ts';
import { inTurns } from './turns.ts';

export interface BenchOptions extends Pick<RunSessionsOptions, 'sessions' | 'scenario' | 'own' | 'models' | 'timings'> {
  /** The built page (`npm run build:bench-page`). */
  pageDirectory: string;
  /** Default: the origin paces the responses. */
  startLink?(scenario: ResolvedScenario): Promise<EmulatedLink>;
  /**
   * Concurrent sessions, but one household at least; always one of either with `startLink`. Default: `defaultContexts`.
   */
  contexts?: number;
  /** A session with more late downloads than this is rejected. Default: `TOLERATED_LATE_SHARE`. */
  lateShare?: number;
  /** The most runs of a session. Default 4. */
  maxAttempts?: number;
  /** Ends the run early and drops active sessions. */
  signal?: AbortSignal;
  /**
   * Duration of calibration on each of two traces, before and after the sessions. Default: none; none with `startLink`.
   */
  calibrationSeconds?: number;
  /** Receives the notes of this call before the first session; they are updated until the end. */
  onPart?(part: BenchPart): void;
  /** Receives every played session, accepted or not; the sessions of a household together. */
  onPlayed?(played: readonly PlayedSession[]): void | Promise<void>;
}

const DEFAULT_MAX_ATTEMPTS = 4;
const LARGE_LADDER_BPS = 30e6;
/** The page's video and its margin, in CSS pixels: every picture costs the composition of the whole page. */
const VIEWPORT = { width: 384, height: 216 };

/**
 * The number of concurrent sessions that do not disturb each other: 4 for ladders above 30 Mbit/s and live streams, else
 * 8.
 */
export function defaultContexts({ ladderBps, live }: Pick<ResolvedScenario, 'ladderBps' | 'live'>): number {
  return live !== undefined || ladderBps.at(-1)! > LARGE_LADDER_BPS ? 4 : 8;
}

interface Task {
  planned: PlannedSession;
  attempt: number;
}

/**
 * Plays all sessions; resolves to those, or the households, that were rejected at every attempt. Rejects with an
 * `InputError` for an unknown algorithm, before it starts a browser, and with a `BrowserNotFoundError` if there is no
 * browser.
 */
export async function runBench(options: BenchOptions): Promise<PlannedSession[]> {
  const { sessions, scenario, signal, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
  const contexts = options.startLink !== undefined ? 1 : (options.contexts ?? defaultContexts(scenario));
  const perLine = sessions[0]?.household?.players.length ?? 1;
  for (const algorithm of new Set(sessions.map((session) => session.algorithm))) browserAlgorithm(algorithm);

  const givenUp: PlannedSession[] = [];
  if (sessions.length === 0) return givenUp;
  const queue: Task[] = inTurns(sessions).map((planned) => ({ planned, attempt: 1 }));
  const { chromium } = await import('playwright-core');
  const found = await findBrowser();
  const link = await options.startLink?.(scenario);
  const server = await startOrigin({
    fallback: servePageFiles(options.pageDirectory),
    ...(link && { socket: await link.listen() }),
  });
  const access = await link?.access(server.url, found.executablePath);
  const origin = { ...server, ...(access && { url: access.url }) };
  const browser = await chromium.launch({
    ...found,
    ...(access && { executablePath: access.executablePath, args: [...found.args, ...access.args] }),
    headless: true,
  });
  const abort = () => void browser.close();
  signal?.addEventListener('abort', abort);
  const part = newPart(benchEnvironment({ version: browser.version(), source: found.source }));
  const calibration = async (when: 'before' | 'after') => {
    const { calibrationSeconds: seconds } = options;
    if (seconds === undefined || link !== undefined || signal?.aborted === true) return;
    part.calibration[when] = await calibrate({ browser, origin, scenario, seconds, signal });
  };
  try {
    options.onPart?.(part);
    await requireMedia(browser, found.source);
    await calibration('before');
    while (queue.length > 0 && signal?.aborted !== true) {
      const batch = queue.splice(0, Math.max(1, Math.floor(contexts / perLine)));
      for (const [i, played] of (await playBatch(batch, { browser, origin, link, options })).entries()) {
        const { planned, attempt } = batch[i]!;
        update(part);
        for (const { planned: session, rejected: reason } of played) {
          if (reason === undefined) {
            part.sessions++;
            continue;
          }
          const { trace, startSeconds, algorithm } = session;
          const where = { dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm };
          part.rejections.push({ ...where, attempt, reason });
        }
        if (played[0]!.rejected !== undefined) {
          if (attempt < maxAttempts) queue.push({ planned, attempt: attempt + 1 });
          else givenUp.push(planned);
        }
        await options.onPlayed?.(played);
      }
    }
    await calibration('after');
    update(part);
  } catch (error) {
    // `abort` has closed the browser during a calibration.
    if (signal?.aborted !== true) throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    await browser.close();
    await origin.close();
    await link?.close();
  }
  return givenUp;
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

/** Sets the end and the load to the current ones. */
function update(part: BenchPart): void {
  part.endedAt = new Date().toISOString();
  part.load.after = systemLoad();
  part.load.highest = Math.max(part.load.highest, part.load.after[0]!);
}

/** Fails early with a clear message if the browser lacks the codec. */
async function requireMedia(browser: Browser, source: string): Promise<void> {
  const type = `video/mp4; codecs="${videoClip(MAX_REPRESENTATIONS - 1).codec}"`;
  const page = await browser.newPage();
  const isSupported = await page.evaluate(
    (asked) => typeof MediaSource !== 'undefined' && MediaSource.isTypeSupported(asked),
    type,
  );
  await page.close();
  if (isSupported) return;
  throw new BrowserNotFoundError(
    `the browser that was found (${source}) cannot play ${type}: set CHROME_PATH to one that can`,
  );
}

interface Run {
  browser: Browser;
  origin: RunningOrigin;
  link: EmulatedLink | undefined;
  options: BenchOptions;
}

async function playBatch(batch: readonly Task[], run: Run): Promise<PlayedSession[][]> {
  const { scenario, signal } = run.options;
  try {
    const loaded = await Promise.all(batch.map((task) => loadLine(task, run)));
    const staggerMs = (scenario.segmentSeconds * 1000) / loaded.length;
    return await Promise.all(
      loaded.map(async (line, i) => {
        await delay(i * staggerMs);
        return line.play();
      }),
    );
  } catch (error) {
    // `abort` has closed the browser.
    if (signal?.aborted === true) return [];
    throw error;
  }
}

/** Opens the pages of a line of the plan, for one session or for the players of a household on one link. */
async function loadLine({ planned, attempt }: Task, run: Run) {
  const { origin, link, options } = run;
  const { household, trace, startSeconds } = planned;
  const { scenario, signal } = options;
  const seats = seatsOf(planned, scenario);
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const onStart = () => {
    link?.play(planned, scenario);
    begin();
  };
  const sessions: ReplaySession[] = [];
  for (const { segmentCount } of seats.map((seat) => seat.planned)) {
    const [first] = sessions;
    const session = origin.createSession({
      ...{ trace, scenario, startSeconds, segmentCount },
      ...(link && { pacing: 'none' as const }),
      ...(first ? { link: first } : { onStart, traffic: link ? [] : (household?.traffic ?? []) }),
    });
    sessions.push(session);
  }
  const pages = await Promise.all(seats.map((seat, i) => loadPage(seat, { attempt, session: sessions[i]! }, run)));
  return {
    async play(): Promise<PlayedSession[]> {
      const played = await Promise.all(
        pages.map(async (page, i) => {
          const { joinSeconds } = seats[i]!;
          if (joinSeconds > 0) {
            await begun;
            await delay(joinSeconds * 1000, undefined, { ...(signal && { signal }) });
          }
          // Those who join later do not wait for one that ended without a request.
          return page.play().finally(begin);
        }),
      );
      const lastedSeconds = sessions[0]!.nowSeconds;
      link?.open();
      const statistics = await link?.statistics();
      if (statistics) for (const one of played) one.linkStatistics = statistics;
      if (household === undefined) return played;
      const linkUtilisation = statistics
        ? (statistics.bytes * 8) /
          linkOf(trace, { ...scenario, payloadShare: 1 })
            .from(startSeconds, 0)
            .cumulativeBits(lastedSeconds)
        : sessions[0]!.linkUtilisation;
      return inHousehold(played, { household, given: planned.algorithm, seats, linkUtilisation });
    },
  };
}

/** Opens a page for one session; `play` closes it at the end. */
async function loadPage(
  { planned, scenario, joinSeconds }: Seat,
  { attempt, session }: { attempt: number; session: ReplaySession },
  { browser, origin, link, options }: Run,
) {
  const { timings = false } = options;
  const mostLateShare = options.lateShare ?? TOLERATED_LATE_SHARE;
  const { trace, segmentCount, algorithm, seed } = planned;
  const model = options.models?.[trace.metadata.recordingGroup];
  const { controller, player } = browserAlgorithm(algorithm);
  const own = options.own?.find(({ name }) => name === controller);
  const config: SessionConfig = {
    sessionUrl: `${origin.url}/session/${session.id}/`,
    algorithm,
    ...(own && { own }),
    seed,
    scenario,
    segmentCount,
    joinSeconds,
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
      const played = await playIn(page);
      const record: SessionRecord =
        pageErrors.length === 0 ? played : { ...played, endedBy: 'fault', fault: played.fault ?? pageErrors[0]! };
      await context.close();
      origin.removeSession(session.id);
      const downloads = downloadTimings(record, session.log);
      const rejected = reasonToReject(record, downloads, modelOf(player, scenario.browser), mostLateShare);
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
          live: scenario.live,
          ...(link && { protocol: link.protocol }),
        }),
        originLog: session.log,
      };
    },
  };
}

/**
 * Chromium can lose the result of a promise at a garbage collection (seen once in some hundred sessions, at the end of
 * one). The page keeps its record and returns it again.
 */
async function playIn(page: Page): Promise<SessionRecord> {
  const play = () => page.evaluate(() => window.leoAbrBench.play());
  try {
    return await play();
  } catch (error) {
    if (String(error).includes('garbage collected')) return play();
    throw error;
  }
}

/** A session with a fault counts as a result. */
function reasonToReject(
  record: SessionRecord,
  timings: readonly DownloadTiming[],
  browser: BrowserModel,
  mostLateShare: number,
): string | undefined {
  if (record.endedBy === 'fault') return undefined;
  const share = lateShare(timings, browser);
  if (share <= mostLateShare) return undefined;
  return `${(100 * share).toFixed(1)} % of the downloads ended late`;
}
