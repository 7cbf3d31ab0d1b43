/** `leo-abr trace record --active`: downloads while nobody uses the link (LEOScope's scavenger mode). */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeTrace } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { Clock, Traffic } from '../../service/index.ts';
import { tokenOption } from '../serve/serve-options.ts';
import { positiveNumber, webAddress } from '../shared/options.ts';
import { readJson, requireWritableFolder } from '../shared/results-file.ts';

type Flag = 'active' | 'service' | 'tokenFile' | 'schedule' | 'seconds' | 'budgetMbPerDay';
export type ActiveFlags = { readonly [Name in Flag]?: string };

export interface RecordSurroundings {
  directory: string;
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** Calls `act` every `ms`; the result ends that. */
  every(ms: number, act: () => void): () => void;
  interrupted: Promise<void>;
  note(line: string): unknown;
}

const TICK_MS = 100;
const TICKS_PER_SECOND = 10;
/** The newest ticks that a second of the dish may show. */
const USAGE_TICKS = 40;
const RETRY_MS = 2000;
/** The link must be unused for this long before a measurement, and its usage must be this new. */
const QUIET_MS = 10_000;
const USAGE_MS = 4000;
/** Connects again after this time without usage. */
const SILENCE_MS = 40_000;
/** Less is the background traffic of a home. */
const LEAST_TRAFFIC_BPS = 1e6;
/** The dish also counts headers and repetitions of a measurement, and acknowledgements. */
const COUNTED_SHARE = 1.1;
const ACKNOWLEDGED_SHARE = 0.05;

/** Measures until it is interrupted; the measurements are traces in `directory`. */
export async function measureActively(flags: ActiveFlags, around: RecordSurroundings): Promise<void> {
  const settings = settingsOf(flags);
  requireWritableFolder(around.directory);
  const active = new ActiveMeasurements(settings, around);
  const most = `at most ${settings.budgetBytes / 1e6} MB a day`;
  around.note(`measuring by downloads from ${settings.url.host} while nobody uses the link, ${most}`);
  const end = around.every(TICK_MS, () => active.tick());
  await around.interrupted;
  end();
  active.close();
}

type Settings = ReturnType<typeof settingsOf>;
type Used = { day: string; bytes: number };

function settingsOf(flags: ActiveFlags) {
  const { schedule = '1200', seconds = '35', budgetMbPerDay = '2000' } = flags;
  return {
    url: webAddress(flags.active!, '--active'),
    service: webAddress(flags.service ?? 'http://127.0.0.1:8790', '--service').href.replace(/\/$/, ''),
    headers: flags.tokenFile === undefined ? {} : { authorization: `Bearer ${tokenOption(flags.tokenFile)}` },
    scheduleMs: positiveNumber(schedule, '--schedule') * 1000,
    measureMs: positiveNumber(seconds, '--seconds') * 1000,
    budgetBytes: positiveNumber(budgetMbPerDay, '--budget-mb-per-day') * 1e6,
  };
}

/** Times are monotonic ms unless their names say otherwise. */
class ActiveMeasurements {
  readonly #usedFile: string;
  #used: Used = { day: '', bytes: 0 };
  #now: { beganMs: number; abort: AbortController } | undefined;
  /** What the newest measurement has received in each tick, and their ends. The last tick is not over. */
  #ticks = [{ atMs: Number.NaN, bytes: 0 }];
  /** The newest use by others, or unknown use. */
  #busyMs: number;
  /** The newest usage, or connection. */
  #usageMs = Number.NEGATIVE_INFINITY;
  #dueMs = Number.NEGATIVE_INFINITY;
  #events: AbortController | undefined;
  #retryMs = Number.NEGATIVE_INFINITY;
  #reported = '';

  constructor(
    private readonly settings: Settings,
    private readonly around: RecordSurroundings,
  ) {
    this.#busyMs = around.clock.monotonicMs();
    this.#usedFile = join(around.directory, 'active.json');
  }

  tick(): void {
    const nowMs = this.around.clock.monotonicMs();
    if (this.#events === undefined && nowMs >= this.#retryMs) void this.#follow();
    if (nowMs - this.#usageMs > SILENCE_MS)
      this.#events?.abort(new Error(`no usage of a dish for ${SILENCE_MS / 1000} s`));
    this.#ticks.at(-1)!.atMs = nowMs;
    this.#ticks.push({ atMs: Number.NaN, bytes: 0 });
    if (this.#now === undefined && this.#ticks.length > USAGE_TICKS) this.#ticks.shift();
    if (nowMs - this.#usageMs > USAGE_MS) this.#giveWay();
    if (this.#now !== undefined && nowMs - this.#now.beganMs >= this.settings.measureMs) this.#end();
    if (this.#now === undefined && nowMs >= Math.max(this.#dueMs, this.#busyMs + QUIET_MS)) this.#begin(nowMs);
  }

  close(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.abort();
    this.#end();
  }

  async #follow(): Promise<void> {
    const { service, headers } = this.settings;
    const { clock, fetch } = this.around;
    const events = new AbortController();
    this.#events = events;
    this.#usageMs = clock.monotonicMs();
    try {
      const path = `${service}/v1/events?types=traffic`;
      const response = await fetch(path, { headers, signal: events.signal });
      if (!response.ok) throw new Error(`status ${response.status} of ${path}`);
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
        text = lines.pop()!;
        for (const line of lines) if (line.startsWith('data: ')) this.#traffic(JSON.parse(line.slice(6)));
      }
      throw new Error('the event stream has ended');
    } catch (error) {
      if (this.#events !== events) return;
      this.#events = undefined;
      this.#retryMs = clock.monotonicMs() + RETRY_MS;
      this.#giveWay();
      this.#report(`nothing is measured until the service is back: ${messageOf(error)}`);
    }
  }

  /** The first event, `hello`, has neither. */
  #traffic({ isWatched, second }: Partial<Traffic>): void {
    if (isWatched) this.#giveWay();
    if (second?.downlinkUsageBps === undefined) return;
    this.#usageMs = this.around.clock.monotonicMs();
    // The dish's second is up to some seconds old, and its end is estimated.
    const recent = this.#ticks.slice(-USAGE_TICKS).map(({ bytes }) => bytes);
    const seconds = recent.map((_, i) => recent.slice(i, i + TICKS_PER_SECOND).reduce((sum, bytes) => sum + bytes, 0));
    const ownBps = 8 * Math.max(...seconds);
    const { downlinkUsageBps, uplinkUsageBps = 0 } = second;
    const othersBps = Math.max(downlinkUsageBps - COUNTED_SHARE * ownBps, uplinkUsageBps - ACKNOWLEDGED_SHARE * ownBps);
    if (othersBps > LEAST_TRAFFIC_BPS) this.#giveWay();
  }

  /** Somebody uses the link, or nobody knows. The measurement is repeated. */
  #giveWay(): void {
    this.#busyMs = this.around.clock.monotonicMs();
    if (this.#now !== undefined) this.#dueMs = this.#busyMs;
    this.#end();
  }

  #begin(nowMs: number): void {
    const { budgetBytes, scheduleMs } = this.settings;
    this.#dueMs = nowMs + scheduleMs;
    const day = new Date(this.around.clock.utcMs()).toISOString().slice(0, 10);
    // Also of earlier commands, and of others in this folder.
    const known = existsSync(this.#usedFile) ? (readJson(this.#usedFile, '--out') as Used) : this.#used;
    this.#used = known.day === day ? known : { day, bytes: 0 };
    if (this.#used.bytes >= budgetBytes) return;
    this.#now = { beganMs: nowMs, abort: new AbortController() };
    this.#ticks = [{ atMs: Number.NaN, bytes: 0 }];
    // A crash must not exceed the budget: until the end, all of it counts as used.
    this.#writeUsed(budgetBytes);
    void this.#download(this.#now.abort.signal);
  }

  async #download(signal: AbortSignal): Promise<void> {
    const { url, budgetBytes } = this.settings;
    // Neither a cache in the network nor compression may answer for the link.
    const headers = { 'accept-encoding': 'identity', 'cache-control': 'no-cache, no-store' };
    try {
      const response = await this.around.fetch(url, { headers, signal });
      const encoding = response.headers.get('content-encoding') ?? 'identity';
      if (!response.ok || encoding !== 'identity') {
        await response.body?.cancel();
        throw new Error(`expected success without compression, got status ${response.status}, ${encoding}`);
      }
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        if (signal.aborted) return;
        this.#ticks.at(-1)!.bytes += chunk.length;
        this.#used.bytes += chunk.length;
        if (this.#used.bytes >= budgetBytes) this.#end();
      }
      throw new Error('expected a download that lasts for a whole measurement');
    } catch (error) {
      if (signal.aborted) return;
      this.#end();
      this.#report(`${url.host}: ${messageOf(error)}`);
    }
  }

  #end(): void {
    if (this.#now === undefined) return;
    this.#now.abort.abort();
    this.#now = undefined;
    const bytes = this.#ticks.reduce((sum, tick) => sum + tick.bytes, 0);
    if (bytes > 0) this.#reported = '';
    this.#writeUsed(this.#used.bytes);
    this.#writeTrace(bytes);
  }

  /** Without TCP's slow start in the first second. */
  #writeTrace(bytes: number): void {
    const from = this.#ticks.findIndex((tick) => tick.bytes > 0) + TICKS_PER_SECOND;
    const [before, ...steps] = this.#ticks.slice(from - 1, -1);
    const { clock, directory } = this.around;
    if (before === undefined || steps.length < TICKS_PER_SECOND || steps.every((step) => step.bytes === 0)) return;
    const startUtcMs = clock.utcMs() - clock.monotonicMs() + before.atMs;
    const startUtc = new Date(startUtcMs).toISOString();
    const endsSeconds = steps.map(({ atMs }) => (atMs - before.atMs) / 1000);
    const source = `leo-abr trace record --active: downloads from ${this.settings.url.host}`;
    const trace = {
      name: `active-${startUtc.replace(/[-:]|\.\d+/g, '')}`,
      stepEndsSeconds: Float64Array.from(endsSeconds),
      ratesBps: Float64Array.from(steps, (step, i) => (8 * step.bytes) / (endsSeconds[i]! - (endsSeconds[i - 1] ?? 0))),
      durationSeconds: endsSeconds.at(-1)!,
      metadata: {
        dataset: 'recorded-active',
        recordingGroup: `unknown place ${startUtc.slice(0, 10)}`,
        startUtcMs,
        other: { source, downloaded_bytes: bytes },
      },
    };
    writeTrace(trace, directory);
  }

  #report(fault: string): void {
    if (fault !== this.#reported) this.around.note(fault);
    this.#reported = fault;
  }

  #writeUsed(bytes: number): void {
    writeFileAtomically(this.#usedFile, `${JSON.stringify({ ...this.#used, bytes })}\n`);
  }
}

/** Errors of `fetch` have the reason in their cause. */
function messageOf(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: NodeJS.ErrnoException };
  return cause === undefined ? message : `${message}: ${cause.code ?? cause.message}`;
}
