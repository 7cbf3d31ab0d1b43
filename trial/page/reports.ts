/** Observes a player's sessions and reports each session at its end. */

import { check } from '../../abr/errors.ts';
import { type Encoding, modelledQuality } from '../../abr/qoe/quality.ts';
import { type Checks, checkOptions, has, isPlain, SWITCH } from '../../session/page/checks.ts';
import type { DecisionEvent, Logger } from '../../session/page/event-types.ts';
import type { Guard } from '../../session/page/events.ts';
import { attempt } from '../../session/page/events.ts';
import type { LeoAbrHandle } from '../../session/page/handle.ts';
import { DOM_METHODS, displayedLines, listen, UndoList } from '../../src/adapter-kit.ts';
import { SESSION_REPORT_VERSION, type SessionReport } from '../session-report.ts';
import { PLAYER } from '../trial-config.ts';
import { type Arm, randomDigits } from './arms.ts';
import { LinkRecord } from './link.ts';
import { Playback } from './playback.ts';
import { Outbox } from './sending.ts';
import { pageSeconds, Transfers } from './transfers.ts';

/** The package's version, as in package.json: a test compares them. */
export const VERSION = '0.4.0';
const SAMPLE_MS = 100;
/** Shaka reports bits at the end of a download. Bits that are later than this do not count for a rhythm. */
const LATE_SECONDS = 30;
const MOST_FAULTS = 16;
/** Modelled quality above which few viewers see a difference: a mean opinion of 4.2. */
const GOOD_ENOUGH = 85;
/** Names browsers by their engines: all browsers on iOS have WebKit. */
const BROWSERS = { firefox: /firefox/i, chromium: /chrom(e|ium)/i, webkit: /applewebkit/i };

export interface ReportOptions {
  /** The plugin's handle, in arms with the plugin. It may be without a player. */
  leoAbr?: LeoAbrHandle | undefined;
  /** The arm from `assignArm`. Default: no trial. */
  arm?: Arm | undefined;
  /** URL that receives each report as a line of JSON by POST. `observations` adds each second's throughput. Default: none. */
  report?: string | URL | { url: string | URL; observations?: boolean } | undefined;
  /** If `false`, the page keeps no unsent report for the next visit. Default true. */
  storage?: boolean;
  /** Gets each fault of the observation once. `null` gets none. Default `console`. */
  logger?: Logger | null;
}

export interface PlayerListener {
  /** A source has begun, and replaces any earlier source. */
  sourceBegan(): void;
  sourceEnded(): void;
  /** Transfers of the present source. */
  transfers(): Transfers | undefined;
}

/** The getters may throw until the player is ready. */
export interface ObservedPlayer {
  name: SessionReport['player'];
  version: string;
  listen(listener: PlayerListener, guard: Guard): (() => void)[];
  element(): HTMLMediaElement | null | undefined;
  isLive(): boolean | undefined;
  latencySeconds(): number | undefined;
  /** The video's representations. */
  ladder(): readonly Encoding[];
}

export interface SessionReports {
  /** Calls `listener` at the end of each session. Returns a function that removes the listener. */
  on(type: 'session', listener: (report: SessionReport) => void): () => void;
  /** Reports the present session and ends the observation. A second call does nothing. */
  stop(): void;
}

type Target = { url: string | URL | undefined; observations?: boolean };
const isUrl = (value: unknown): value is string | URL | undefined =>
  value === undefined || typeof value === 'string' || value instanceof URL;
const REPORT_CHECKS: Checks<Target> = {
  url: ['a URL', isUrl],
  observations: SWITCH,
};
const CHECKS: Checks<ReportOptions> = {
  leoAbr: ["the plugin's handle", (value) => has(value, 'on', 'detach')],
  arm: ['what assignArm returns', (value) => has(value)],
  report: ['a URL, or an object with it', (value) => isUrl(value) || isPlain(value)],
  storage: SWITCH,
  logger: ['warn() or null', (value) => value === null || has(value, 'warn')],
};

/** Parts of a session that a report limits. */
const MOST: Readonly<Record<string, number>> = {
  ...{ startupSeconds: 86_400, stallSeconds: 86_400, watchedSeconds: 604_800 },
  ...{ stallCount: 1e5, switches: 1e5, forecasts: 1e5 },
};

/** Rounds to six digits, and leaves out what is unknown. */
function reportable(values: object): SessionReport {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || Number.isNaN(value)) continue;
    known[name] =
      typeof value === 'number'
        ? Math.min(MOST[name] || value, Number.isInteger(value) ? value : Number(value.toPrecision(6)))
        : value;
  }
  return known as unknown as SessionReport;
}

const nameOf = (text: string) => text.slice(0, 64).replace(/[^\w .:+-]/g, '_') || 'unknown';

class ObservedSession {
  readonly id = randomDigits();
  readonly beganMs = Date.now();
  private readonly _beganSeconds = pageSeconds();
  readonly playback = new Playback(this._beganSeconds);
  readonly link = new LinkRecord(this.beganMs, this._beganSeconds);
  readonly transfers = new Transfers(this);
  isLive = false;
  ladder: readonly Encoding[] = [];
  displayedLines: number | undefined;
  private _samples = 0;
  controller: string = PLAYER;

  sample(player: ObservedPlayer): void {
    const nowSeconds = pageSeconds();
    const element = attempt(() => player.element()) ?? undefined;
    this.isLive = attempt(() => player.isLive()) ?? this.isLive;
    this.ladder = attempt(() => player.ladder()) ?? this.ladder;
    // Reading the size may cost a layout.
    if (this._samples++ % 50 === 0) this.displayedLines = displayedLines(element) ?? this.displayedLines;
    this.transfers.poll();
    this.link.settle(nowSeconds - LATE_SECONDS);
    this.playback.sample(nowSeconds, element, this.isLive ? attempt(() => player.latencySeconds()) : undefined);
  }

  figures() {
    const { ladder, isLive } = this;
    const { requestedBits, wastedBits, receivedBits, bitsByBitrate } = this.transfers;
    const ladderMbps = ladder.map(({ bitrateBps }) => bitrateBps / 1e6);
    const qualityOf = (mbps: number) =>
      modelledQuality({
        ...ladder[ladderMbps.indexOf(mbps)],
        bitrateBps: 1e6 * mbps,
        displayedLines: this.displayedLines,
      });
    const enoughBps = 1e6 * Math.min(...ladderMbps.filter((mbps) => qualityOf(mbps) >= GOOD_ENOUGH));
    let aboveEnoughBits = 0;
    for (const bps in bitsByBitrate) aboveEnoughBits += bitsByBitrate[bps]! * Math.max(0, 1 - enoughBps / Number(bps));
    return {
      ...this.playback.figures(isLive, ladderMbps, qualityOf),
      requestedBits,
      wastedBits,
      receivedBits,
      aboveEnoughBits,
    };
  }

  decided({ kind, forecast, state }: DecisionEvent): void {
    // A live download waits for the encoder, so its bits do not show the link's capacity.
    if (!forecast || kind !== 'decide' || this.isLive) return;
    this.link.expected(forecast, pageSeconds(), state.nowSeconds - forecast.issuedAtMs / 1000);
  }
}

export class Reporter implements SessionReports {
  private readonly _outbox: Outbox | undefined;
  private readonly _observations: boolean;
  private readonly _listeners = new Set<(report: SessionReport) => void>();
  private readonly _undo = new UndoList();
  private _hasFailed = false;
  private _session: ObservedSession | undefined;
  private _timer: ReturnType<typeof setInterval> | undefined;
  /** The page went away while a source played. */
  private _isAway = false;

  constructor(
    private readonly _player: ObservedPlayer,
    private readonly _options: ReportOptions,
  ) {
    checkOptions(_options, CHECKS);
    const { leoAbr, arm, report, storage = true } = _options;
    const target: Target = isUrl(report) ? { url: report } : report;
    checkOptions(target, REPORT_CHECKS, 'options.report');
    const { url, observations = false } = target;
    const expected = arm?.options ? "the plugin's handle" : 'no plugin';
    check(!arm || !arm.options === !leoAbr, 'options.leoAbr', `${expected} in arm ${arm?.arm}`, leoAbr);
    this._observations = observations;
    this._outbox = url === undefined ? undefined : new Outbox(String(url), storage);
    const guard = this._guard;
    const transfers = () => this._session?.transfers;
    const listener = { sourceBegan: () => this._begin(), sourceEnded: () => this._end('source'), transfers };
    this._undo.add(...(guard(() => _player.listen(listener, guard)) || []));
    if (has(globalThis, ...DOM_METHODS)) this._undo.add(listen(globalThis, DOM_METHODS, this._pageHandlers, guard));
    if (leoAbr) this._undo.add(leoAbr.on('decision', (event) => guard(() => this._session?.decided(event))));
  }

  on(type: 'session', listener: (report: SessionReport) => void): () => void {
    check(type === 'session', 'event', 'session', type);
    check(typeof listener === 'function', 'listener', 'a function', listener);
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  stop(): void {
    this._guard(() => this._end('detached'));
    this._undo.run();
  }

  /** No error reaches the player. */
  private readonly _guard: Guard = (action, argument) => {
    try {
      return action(argument!);
    } catch (error) {
      const { logger = console } = this._options;
      if (!this._hasFailed) attempt(() => logger?.warn('leo-abr: a report lacks something', error));
      this._hasFailed = true;
      return undefined;
    }
  };

  private readonly _pageHandlers = {
    pagehide: () => {
      this._isAway = this._session !== undefined;
      this._end('page');
    },
    // When the page returns from the browser's cache, the source goes on.
    pageshow: () => {
      if (this._isAway) this._begin();
      this._isAway = false;
    },
    visibilitychange: () => {
      this._sample();
      const session = this._session;
      if (!session) return;
      if (document.visibilityState !== 'hidden') this._outbox?.forget(session.id);
      else this._outbox?.keep(this._report(session, 'page'), Date.now());
    },
  };

  private _begin(): void {
    this._end('source');
    this._session = new ObservedSession();
    this._timer = setInterval(() => this._guard(() => this._sample()), SAMPLE_MS);
    this._sample();
  }

  private _sample(): void {
    const { status, controller } = this._options.leoAbr?.state || {};
    const session = this._session;
    if (session && status === 'attached') session.controller = controller!;
    session?.sample(this._player);
    if (session && status === 'detached' && session.controller !== PLAYER) this._end('detached');
  }

  private _end(ended: SessionReport['ended']): void {
    const session = this._session;
    if (!session) return;
    session.sample(this._player);
    clearInterval(this._timer);
    this._session = undefined;
    const report = this._report(session, ended);
    for (const listener of [...this._listeners]) this._guard(() => listener(report));
    if (this._outbox) this._outbox.send(report);
  }

  private _report(session: ObservedSession, ended: SessionReport['ended']): SessionReport {
    const { leoAbr, arm: { options: _, ...assigned } = {} as Partial<Arm> } = this._options;
    const { id, beganMs, isLive: live, controller, playback, link } = session;
    const faults = new Set<string>(leoAbr?.state.faults.map(({ code }) => code));
    if (this._hasFailed) faults.add('observer-failed');
    const userAgent = attempt(() => navigator.userAgent) || '';
    const browser = Object.entries(BROWSERS).find(([, pattern]) => pattern.test(userAgent))?.[0] ?? 'other';
    const values = {
      ...{ version: SESSION_REPORT_VERSION, id, day: new Date(beganMs).toISOString().slice(0, 10), leoAbr: VERSION },
      ...{ player: this._player.name, playerVersion: nameOf(`${this._player.version}`), browser, live },
      controller: nameOf(`${controller}`),
      ...{ ...assigned, ended: playback.isEnded ? 'end' : ended, ...session.figures() },
      ...{ ...link.figures(pageSeconds(), this._observations) },
      faults: [...faults].slice(0, MOST_FAULTS).join() || undefined,
    };
    return reportable(values);
  }
}
