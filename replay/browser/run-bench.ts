/** Plays a plan's sessions in a browser, in concurrent batches with staggered starts. Node only. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { isOnnx } from '../algorithms.ts';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import { linkOf } from '../link/trace-link.ts';
import { MAX_REPRESENTATIONS, videoClip } from '../media/clips.ts';
import { RUNTIME_FILE, WASM_FILE } from '../onnx-model.ts';
import { type ReplaySession, type RunningOrigin, startOrigin, staticSite } from '../origin/index.ts';
import type { ResolvedScenario } from '../results.ts';
import type { RunSessionsOptions } from '../simulator/threads/run-sessions.ts';
import { browserAlgorithm } from './algorithms.ts';
import { type BenchPart, newPart } from './bench-notes.ts';
import { Contexts } from './contexts.ts';
import type { EmulatedLink } from './emulated-link.ts';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';
import { browserSessionResult } from './record/browser-session-result.ts';
import { inconsistencies } from './record/consistency.ts';
import { downloadTimings, lateShare, modelOf, TOLERATED_LATE_SHARE } from './record/lateness.ts';
import type { BrowserSessionRecord, PlayedRecord, SessionConfig } from './record/session-record.ts';
import { inHousehold, type Seat, seatsOf } from './seats.ts';
import { inTurns } from './turns.ts';

export interface BenchOptions
  extends Pick<RunSessionsOptions, 'sessions' | 'scenario' | 'own' | 'models' | 'onnx' | 'timings'> {
  pageDirectory: string;
  /** Default: the origin paces the responses. */
  startLink?(scenario: ResolvedScenario): Promise<EmulatedLink>;
  /** Starts a prediction service on the link of a session, for algorithms with `@service`. */
  startService?(session: ReplaySession): Promise<{ url: string; close(): Promise<void> }>;
  /**
   * Concurrent sessions; at least one household, and with `startLink` at most one. Default: at most `defaultContexts`,
   * and as many as the host plays on time.
   */
  contexts?: number;
  /** A session of whose bits a greater share came late is rejected. Default: `TOLERATED_LATE_SHARE`. */
  lateShare?: number;
  signal?: AbortSignal;
  /** Receives the notes of this call before the first session; they are updated until the end. */
  onPart?(part: BenchPart): void;
  /** Receives every played session, accepted or not; the sessions of a household together. */
  onPlayed?(played: readonly PlayedRecord[]): void | Promise<void>;
}

const MOST_ATTEMPTS = 4;
const PAGE_PATH = '/page/';
const RUNTIME_PATH = '/onnxruntime/';
const PAGE_HEADERS = {
  'cache-control': 'no-store',
  // The clock of an isolated page has a resolution of 5 instead of 100 microseconds.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};
/** The page's video and its margin, in CSS pixels: every picture costs the composition of the whole page. */
const VIEWPORT = { width: 384, height: 216 };

export function defaultContexts({ ladderBps, live }: Pick<ResolvedScenario, 'ladderBps' | 'live'>): number {
  return live !== undefined || ladderBps.at(-1)! > 30e6 ? 4 : 8;
}

/** The host cannot play the scenario on time. */
export class TooSlowError extends Error {}

interface Task {
  planned: PlannedSession;
  attempt: number;
}

/** Resolves to the sessions that were rejected at every attempt. An unknown algorithm is an `InputError`. */
export async function runBench(options: BenchOptions): Promise<PlannedSession[]> {
  const { sessions, scenario, signal } = options;
  for (const algorithm of new Set(sessions.map((session) => session.algorithm))) browserAlgorithm(algorithm);
  if (sessions.length === 0) return [];
  const { chromium } = await import('playwright-core');
  const found = await findBrowser();
  const link = await options.startLink?.(scenario);
  const page = staticSite(options.pageDirectory, { at: PAGE_PATH, headers: PAGE_HEADERS });
  const names = options.onnx ? [RUNTIME_FILE, WASM_FILE] : [];
  const runtime = staticSite(options.onnx?.runtimeFolder ?? '', { at: RUNTIME_PATH, headers: PAGE_HEADERS, names });
  const server = await startOrigin({
    fallback: (request, response) => page(request, response) || runtime(request, response),
    ...(link && { socket: await link.listen() }),
  });
  const access = await link?.access(server.url, found.executablePath);
  const browser = await chromium.launch({
    ...found,
    ...(access && { executablePath: access.executablePath, args: [...found.args, ...access.args] }),
    headless: true,
  });
  const abort = () => void browser.close();
  signal?.addEventListener('abort', abort);
  const part = newPart({ version: browser.version(), source: found.source });
  const givenUp: PlannedSession[] = [];
  try {
    options.onPart?.(part);
    await requireMedia(browser, found.source);
    await playAll(part, givenUp, { browser, origin: server, url: access?.url ?? server.url, link, options });
  } catch (error) {
    // `abort` has closed the browser.
    if (signal?.aborted !== true) throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    await browser.close();
    await server.close();
    await link?.close();
  }
  return givenUp;
}

async function playAll(part: BenchPart, givenUp: PlannedSession[], run: BenchRun): Promise<void> {
  const { link, options } = run;
  const { sessions, scenario } = options;
  const perLine = sessions[0]!.household?.players.length ?? 1;
  const given = link ? 1 : options.contexts;
  const contexts = new Contexts(given ?? defaultContexts(scenario), perLine, given !== undefined);
  part.contexts = contexts.counts;
  const queue: Task[] = inTurns(sessions).map((planned) => ({ planned, attempt: 1 }));
  while (queue.length > 0) {
    options.signal?.throwIfAborted();
    const isAlone = contexts.count === perLine || contexts.isFixed;
    const batch = queue.splice(0, Math.max(1, Math.floor(contexts.count / perLine)));
    const lines = await playBatch(batch, run);
    contexts.played(batch.length, lines.filter(([first]) => first!.rejected !== undefined).length);
    for (const [i, played] of lines.entries()) {
      const { planned, attempt } = batch[i]!;
      part.endedAt = new Date().toISOString();
      for (const { planned: session, rejected: reason } of played) {
        const { trace, startSeconds, algorithm } = session;
        const where = { dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm };
        if (reason === undefined) part.sessions++;
        else part.rejections.push({ ...where, attempt, reason });
      }
      if (played[0]!.rejected !== undefined) {
        // While fewer sessions at a time may help, an attempt does not count.
        if (attempt < MOST_ATTEMPTS) queue.push({ planned, attempt: attempt + (isAlone ? 1 : 0) });
        else givenUp.push(planned);
      }
      await options.onPlayed?.(played);
    }
    if (contexts.isHopeless) throw new TooSlowError(tooSlow(lines[0]![0]!, scenario));
  }
}

function tooSlow({ rejected }: PlayedRecord, { ladderBps }: ResolvedScenario): string {
  return (
    `this host does not deliver ${ladderBps.at(-1)! / 1e6} Mbit/s on time, even to one session (${rejected}): ` +
    'free it, or give a ladder with a lower top, or a larger --late-share'
  );
}

async function requireMedia(browser: Browser, source: string): Promise<void> {
  const type = `video/mp4; codecs="${videoClip(MAX_REPRESENTATIONS - 1).codec}"`;
  const page = await browser.newPage();
  const isSupported = await page.evaluate((asked) => globalThis.MediaSource?.isTypeSupported(asked), type);
  await page.close();
  if (isSupported) return;
  throw new BrowserNotFoundError(
    `the browser that was found (${source}) cannot play ${type}: set CHROME_PATH to one that can`,
  );
}

interface BenchRun {
  browser: Browser;
  origin: RunningOrigin;
  url: string;
  link: EmulatedLink | undefined;
  options: BenchOptions;
}

async function playBatch(batch: readonly Task[], run: BenchRun): Promise<PlayedRecord[][]> {
  const loaded = await Promise.all(batch.map((task) => loadLine(task, run)));
  const staggerMs = (run.options.scenario.segmentSeconds * 1000) / loaded.length;
  const play = async (playLine: () => Promise<PlayedRecord[]>, i: number) => {
    await delay(i * staggerMs);
    return playLine();
  };
  return Promise.all(loaded.map(play));
}

async function loadLine({ planned, attempt }: Task, run: BenchRun) {
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
  const isServed = seats.some(({ planned: { algorithm } }) => browserAlgorithm(algorithm).forecaster === 'service');
  const service = isServed ? await options.startService!(sessions[0]!) : undefined;
  const loading = seats.map((seat, i) => loadPage(seat, { attempt, session: sessions[i]!, service }, run));
  const pages = await Promise.all(loading);
  const playSeat = async ({ joinSeconds }: Seat, play: () => Promise<PlayedRecord>) => {
    if (joinSeconds > 0) {
      await begun;
      await delay(joinSeconds * 1000, undefined, { ...(signal && { signal }) });
    }
    // If a player ends without a request, later players must not wait for its request.
    return play().finally(begin);
  };
  return async (): Promise<PlayedRecord[]> => {
    const playing = Promise.all(seats.map((seat, i) => playSeat(seat, pages[i]!)));
    const played = await playing.finally(() => service?.close());
    const lastedSeconds = sessions[0]!.nowSeconds;
    link?.open();
    const linkStatistics = await link?.statistics();
    if (linkStatistics) for (const one of played) one.linkStatistics = linkStatistics;
    if (household === undefined) return played;
    const capacity = linkOf(trace, { ...scenario, payloadShare: 1 }).from(startSeconds, 0);
    const linkUtilisation = linkStatistics
      ? (8 * linkStatistics.bytes) / capacity.cumulativeBits(lastedSeconds)
      : sessions[0]!.linkUtilisation;
    return inHousehold(played, { household, given: planned.algorithm, seats, linkUtilisation });
  };
}

async function loadPage(
  { planned, scenario, joinSeconds }: Seat,
  { attempt, session, service }: { attempt: number; session: ReplaySession; service: { url: string } | undefined },
  { browser, origin, url, link, options }: BenchRun,
): Promise<() => Promise<PlayedRecord>> {
  const { timings = false, lateShare: mostLateShare = TOLERATED_LATE_SHARE } = options;
  const { trace, segmentCount, algorithm, seed } = planned;
  const model = options.models?.[trace.metadata.recordingGroup];
  const { controller, ownOf, player, forecaster } = browserAlgorithm(algorithm);
  const own = options.own?.find(({ name }) => name === controller);
  const config: SessionConfig = {
    sessionUrl: `${url}/session/${session.id}/`,
    ...{ algorithm, seed, scenario, segmentCount, joinSeconds },
    ...(own && { own }),
    ...(model && { model }),
    ...(isOnnx(forecaster) && { onnx: onnxUrls(options.onnx!.files[forecaster]!, url) }),
    ...(service && { serviceUrl: service.url }),
  };
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  const pageErrors: string[] = [];
  page.on('pageerror', (error) => pageErrors.push(error.stack ?? error.message));
  await page.goto(`${url}${PAGE_PATH}`);
  await page.evaluate((given) => window.leoAbrBench.prepare(given), config);
  return async () => {
    const record = await playIn(page);
    const [pageError] = pageErrors;
    if (pageError !== undefined) Object.assign(record, { endedBy: 'fault', fault: record.fault ?? pageError });
    await context.close();
    origin.removeSession(session.id);
    const downloads = downloadTimings(record, session.log);
    const share = lateShare(downloads, modelOf(player, scenario.browser));
    // A session with a fault counts as a result.
    const isRejected = record.endedBy !== 'fault' && share > mostLateShare;
    return {
      planned,
      attempt,
      ...(isRejected && { rejected: `${(100 * share).toFixed(1)} % of the bits came late` }),
      result: browserSessionResult(record, { planned, scenario, timings }),
      record,
      timings: downloads,
      inconsistencies: inconsistencies(record, {
        segmentSeconds: scenario.segmentSeconds,
        segmentCount,
        hasDecisions: ownOf === undefined,
        live: scenario.live,
        ...(link && { protocol: link.protocol }),
      }),
      originLog: session.log,
    };
  };
}

/** The model is part of the configuration, because the origin serves only the page and the runtime. */
function onnxUrls(model: Uint8Array, url: string): NonNullable<SessionConfig['onnx']> {
  const at = (name: string) => `${url}${RUNTIME_PATH}${name}`;
  const modelUrl = `data:application/octet-stream;base64,${Buffer.from(model).toString('base64')}`;
  return { modelUrl, runtimeUrl: at(RUNTIME_FILE), wasmUrl: at(WASM_FILE) };
}

/** Chromium can lose a promise's result at a garbage collection. The page returns its record again. */
async function playIn(page: Page): Promise<BrowserSessionRecord> {
  const play = () => page.evaluate(() => window.leoAbrBench.play());
  return play().catch((error: unknown) => {
    if (String(error).includes('garbage collected')) return play();
    throw error;
  });
}
