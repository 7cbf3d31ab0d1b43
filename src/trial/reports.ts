/** Observes the sessions of a player and reports each at its end. */

import { check, requireObject } from '../../abr/errors.ts';
import {
  type FieldRule,
  REPORT_NAME,
  SESSION_REPORT_FIELDS,
  SESSION_REPORT_VERSION,
  type SessionReport,
} from '../../abr/session-report.ts';
import { attempt } from '../core/attempt.ts';
import type { DecisionEvent, Guard, Logger } from '../core/events.ts';
import type { LeoAbrHandle } from '../core/handle.ts';
import { DOM_METHODS, listen, UndoList } from '../core/hooks.ts';
import { has } from '../core/options.ts';
import { type Arm, PLAYER, randomDigits } from './arms.ts';
import { LinkRecord } from './link.ts';
import type { ObservedPlayer, PlayerListener } from './observed-player.ts';
import { Playback } from './playback.ts';
import { forgetHidden, keepHidden, send, sendKept } from './sending.ts';
import { Transfers } from './transfers.ts';
import { VERSION } from './version.ts';

const SAMPLE_MS = 250;
const ELEMENT_EVENTS = ['waiting', 'playing', 'play', 'pause', 'seeking', 'ended', 'ratechange'];

export interface ReportOptions {
  /** The plugin's handle, in arms with the plugin; also before it has a player. */
  leoAbr?: LeoAbrHandle | undefined;
  /** Of `assignArm`. Default: no trial. */
  arm?: Arm | undefined;
  /**
   * Where reports are sent, each as one line of JSON in the body of a POST. `observations`: with the throughput of each
   * second. Default: nowhere.
   */
  report?: string | URL | { url: string | URL; observations?: boolean } | undefined;
  /** Faults of the observation are written here, each once; `null` for nowhere. Default `console`. */
  logger?: Logger | null;
}

export interface SessionReports {
  /** Calls `listener` at the end of each session; returns a function that ends this. */
  on(type: 'session', listener: (report: SessionReport) => void): () => void;
  /** Reports the present session and observes no more. Safe to call twice. */
  stop(): void;
}

interface ResolvedReportOptions extends Pick<ReportOptions, 'leoAbr' | 'arm'> {
  url: string | undefined;
  observations: boolean;
  logger: Logger | null;
}

/** Throws an `InputError` for an invalid option. */
export function resolveReportOptions({ leoAbr, arm, report, logger = console }: ReportOptions): ResolvedReportOptions {
  check(leoAbr === undefined || has(leoAbr, 'on', 'detach'), 'options.leoAbr', "the plugin's handle", leoAbr);
  if (arm !== undefined) {
    const isPlugins = requireObject(arm, 'options.arm')['options'] !== undefined;
    const expected = isPlugins ? `the plugin's handle in arm ${arm.arm}` : `no plugin in arm ${arm.arm}`;
    check(isPlugins === (leoAbr !== undefined), 'options.leoAbr', expected, leoAbr);
  }
  const { url, observations = false } =
    typeof report === 'object' && !(report instanceof URL) ? report : { url: report };
  check(url === undefined || typeof url === 'string' || url instanceof URL, 'options.report', 'a URL', url);
  check(typeof observations === 'boolean', 'options.report.observations', 'true or false', observations);
  return { leoAbr, arm, url: url && String(url), observations, logger };
}

/** What is measured of one session. */
class ObservedSession {
  readonly id = randomDigits();
  readonly beganMs = Date.now();
  readonly beganSeconds = pageSeconds();
  readonly playback = new Playback(this.beganSeconds);
  readonly link = new LinkRecord(this.beganMs);
  readonly transfers = new Transfers(this.link, this.beganSeconds, () => this.isLive);
  isLive = false;
  topBitrateBps: number | undefined;
  controller: string = PLAYER;
  /** The report so far is kept, because the page is hidden. */
  isKept = false;
}

export class Reporter implements SessionReports {
  readonly #listeners = new Set<(report: SessionReport) => void>();
  readonly #undo = new UndoList();
  readonly #elementUndo = new UndoList();
  readonly #faults = new Set<string>();
  #element: HTMLMediaElement | undefined;
  #session: ObservedSession | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** The page went away while a source played. */
  #isAway = false;

  constructor(
    private readonly player: ObservedPlayer,
    private readonly options: ResolvedReportOptions,
  ) {
    const { leoAbr, url } = options;
    const window = globalThis as unknown as EventTarget;
    this.#undo.add(this.#guard(() => player.listen(this.#playerListener, this.#guard)) ?? (() => {}));
    if (has(window, ...DOM_METHODS)) this.#undo.add(listen(window, DOM_METHODS, this.#pageHandlers, this.#guard));
    if (leoAbr) this.#undo.add(leoAbr.on('decision', (event) => this.#guard(() => this.#decided(event))));
    if (url !== undefined) sendKept(url);
  }

  on(type: 'session', listener: (report: SessionReport) => void): () => void {
    check(type === 'session', 'event', 'session', type);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#guard(() => this.#end('detached'));
    this.#undo.run();
  }

  /** No error reaches the player. */
  readonly #guard: Guard = (action) => {
    try {
      return action();
    } catch (error) {
      const fault = 'observer-failed';
      if (!this.#faults.has(fault))
        attempt(() => this.options.logger?.warn('leo-abr: a report lacks something', error));
      this.#faults.add(fault);
      return undefined;
    }
  };

  readonly #playerListener: PlayerListener = {
    sourceBegan: () => this.#begin(),
    sourceEnded: () => this.#end('source'),
    sent: (request, transfer, sentSeconds) =>
      this.#session?.transfers.sent(request, transfer, sentSeconds ?? pageSeconds()),
    progressed: () => this.#session?.transfers.poll(pageSeconds()),
    ended: (request, outcome, bits) => this.#session?.transfers.ended(request, outcome, pageSeconds(), bits),
    buffered: (segment) => this.#session?.playback.buffered(segment),
  };

  readonly #pageHandlers = {
    pagehide: () => {
      this.#isAway = this.#session !== undefined;
      this.#end('page');
    },
    // Back from the browser's cache of pages, the source goes on.
    pageshow: () => {
      if (this.#isAway) this.#begin();
      this.#isAway = false;
    },
    visibilitychange: () => this.#visibilityChanged(),
  };

  #begin(): void {
    this.#end('source');
    this.#session = new ObservedSession();
    this.#timer = setInterval(() => this.#guard(() => this.#tick()), SAMPLE_MS);
    this.#sample();
  }

  #tick(): void {
    this.#sample();
    const { leoAbr } = this.options;
    if (this.#session?.controller !== PLAYER && leoAbr?.state.status === 'detached') this.#end('detached');
  }

  #sample(): void {
    const session = this.#session;
    if (!session) return;
    const { player } = this;
    const element = attempt(() => player.element()) ?? undefined;
    if (element !== this.#element) this.#listenTo(element);
    session.isLive = attempt(() => player.isLive()) ?? session.isLive;
    session.topBitrateBps = attempt(() => player.topBitrateBps()) ?? session.topBitrateBps;
    const nowSeconds = pageSeconds();
    session.transfers.poll(nowSeconds);
    session.link.advance(nowSeconds - session.beganSeconds);
    session.playback.sample(nowSeconds, element, session.isLive ? attempt(() => player.latencySeconds()) : undefined);
    const { status, controller } = this.options.leoAbr?.state ?? {};
    if (status === 'attached') session.controller = controller!;
  }

  #listenTo(element: HTMLMediaElement | undefined): void {
    this.#elementUndo.run();
    this.#element = element;
    this.#session?.playback.elementChanged();
    if (!element) return;
    const happened = (type: string) => {
      this.#sample();
      this.#session?.playback.happened(type);
    };
    const handlers = Object.fromEntries(ELEMENT_EVENTS.map((type) => [type, () => happened(type)]));
    this.#elementUndo.add(listen(element, DOM_METHODS, handlers, this.#guard));
  }

  #decided({ kind, forecast, state }: DecisionEvent): void {
    const session = this.#session;
    // A live download waits for the encoder: what arrives is not the link's capacity.
    if (!session || !forecast || kind !== 'decide' || session.isLive) return;
    const ageSeconds = state.nowSeconds - forecast.issuedAtMs / 1000;
    session.link.expected(forecast, pageSeconds() - session.beganSeconds, ageSeconds);
  }

  #visibilityChanged(): void {
    const session = this.#session;
    const { url } = this.options;
    if (!session || url === undefined) return;
    if (document.visibilityState === 'hidden') {
      this.#sample();
      session.isKept = keepHidden(url, session.id, JSON.stringify(this.#report(session, 'page')));
    } else if (session.isKept) {
      // If another page has sent it, this one must not.
      session.isKept = !forgetHidden(session.id);
    }
  }

  #end(ended: SessionReport['ended']): void {
    const session = this.#session;
    if (!session) return;
    this.#sample();
    clearInterval(this.#timer);
    this.#session = undefined;
    this.#listenTo(undefined);
    const report = this.#report(session, ended);
    for (const listener of [...this.#listeners]) this.#guard(() => listener(report));
    const { url } = this.options;
    const isSent = session.isKept && !forgetHidden(session.id);
    if (url !== undefined && !isSent) send(url, session.id, JSON.stringify(report));
  }

  #report(session: ObservedSession, ended: SessionReport['ended']): SessionReport {
    const { playback, transfers, link } = session;
    const { leoAbr, arm, observations } = this.options;
    const { options: _, ...assigned } = arm ?? {};
    return reportable({
      version: SESSION_REPORT_VERSION,
      id: session.id,
      day: new Date(session.beganMs).toISOString().slice(0, 10),
      leoAbr: VERSION,
      player: this.player.name,
      playerVersion: this.player.version,
      browser: browserOf(attempt(() => navigator.userAgent) ?? ''),
      live: session.isLive,
      controller: session.controller,
      ...assigned,
      ended: playback.isEnded ? 'end' : ended,
      ...playback.figures(session.isLive, session.topBitrateBps),
      requestedBits: transfers.requestedBits,
      wastedBits: transfers.wastedBits,
      ...link.figures(pageSeconds() - session.beganSeconds, observations),
      faults:
        [...new Set([...(leoAbr?.state.faults ?? []).map(({ code }) => code), ...this.#faults])].slice(0, 16).join() ||
        undefined,
    });
  }
}

/** The report within the limits of its fields: numbers with six digits, names without other letters. */
function reportable(report: Record<string, unknown>): SessionReport {
  const entries = Object.entries(report).flatMap(([name, value]) => {
    const rule: FieldRule = SESSION_REPORT_FIELDS[name as keyof SessionReport];
    if (value === undefined || Number.isNaN(value)) return [];
    if ('min' in rule) {
      const within = Math.min(rule.max, Math.max(rule.min, value as number));
      return [[name, rule.whole ? Math.round(within) : Number(within.toPrecision(6))]];
    }
    const isName = 'pattern' in rule && rule.pattern === REPORT_NAME;
    return [
      [
        name,
        isName
          ? String(value)
              .replace(/[^\w .:+-]/g, '_')
              .slice(0, 64) || 'unknown'
          : value,
      ],
    ];
  });
  return Object.fromEntries(entries);
}

/** The engine: all browsers on iOS have WebKit. */
function browserOf(userAgent: string): SessionReport['browser'] {
  if (/firefox/i.test(userAgent)) return 'firefox';
  if (/chrom(e|ium)/i.test(userAgent)) return 'chromium';
  return /applewebkit/i.test(userAgent) ? 'webkit' : 'other';
}

/** The page's even clock. */
function pageSeconds(): number {
  return performance.now() / 1000;
}
