/** Implements the flow's port for dash.js. Only rules get dash.js's objects, so the port keeps the latest context. */

import type { Representation, RulesContext } from 'dashjs';
import type { AssumedLink } from '../../abr/controller.ts';
import type { Flow } from '../../session/flow.ts';
import type { Events } from '../../session/page/events.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, RatePort, Situation } from '../../session/player-port.ts';
import { displayedLines } from '../adapter-kit.ts';
import { LiveSupport } from './live.ts';
import { BufferGauge, type DashPlayer, set, setting } from './player.ts';
import { arrivedOf } from './requests.ts';
import { allowedRepresentations, Bitrates, type Limits, readSituation, videoProcessor } from './situation.ts';

/** dash.js's `DEFAULT_VIDEO_BITRATE`; `initialBitrate` leaves the first choice to dash.js. */
const DEFAULT_BPS = 1e6;

export class DashPort implements PlayerPort {
  readonly name = 'dash.js';
  readonly gauge: BufferGauge;
  readonly live: LiveSupport;
  readonly rate: RatePort;
  readonly bitrates = new Bitrates();
  readonly arrived = arrivedOf;
  private _context: RulesContext | undefined;
  /** As of the latest decision: a download in flight is reconsidered within them. */
  private _limits: Limits | undefined;
  /** The page has not set `fastSwitchEnabled`, so the plugin decides when dash.js replaces buffered media. */
  mayReplace = false;
  /** The highest bitrate allowed at the latest decision of this period. */
  private _top = { periodId: '', bitrateBps: 0 };
  /** The page allows a higher bitrate than when the buffer was filled, for example in full screen. */
  private _isOutgrown = false;
  /** Since a seek, dash.js has not asked the rule. */
  private _hasSought = false;

  constructor(
    private readonly _player: DashPlayer,
    options: { readonly live: LiveOptions },
    private readonly _events: Pick<Events, 'fault'>,
  ) {
    this.gauge = new BufferGauge(_player);
    this.live = new LiveSupport(options, _player, this.gauge);
    this.rate = this.live.rate;
  }

  /** dash.js asks the rule for video; from now on, the port reads from this context. */
  asked(context?: RulesContext): void {
    this._context = context;
    this._hasSought = false;
    this._limits = context && this._limitsOf(context);
  }

  sought(): void {
    this.gauge.forget();
    this._hasSought = true;
  }

  /**
   * After a seek, dash.js would request the first segment in the present representation, without asking its rules. It
   * first adds the init segment again, and stops asking when that event has been handled.
   */
  askAfterSeek(): void {
    if (!this._hasSought) return;
    const schedule = this._context?.getScheduleController();
    Promise.resolve().then(() => schedule?.setShouldCheckPlaybackQuality?.(true));
  }

  manifestUrl(): string | undefined {
    // Optional, so that compatible players need not have it. A source may be a parsed manifest.
    return (this._player as { getSource?(): string }).getSource?.();
  }

  assumed(browserBps: number | undefined): AssumedLink {
    return { playerBps: DEFAULT_BPS, browserBps };
  }

  situation(isFirst: boolean): Situation | undefined {
    const { _player: player, gauge, live } = this;
    const context = this._context;
    if (!context || !this._limits || !this._isAdaptive()) return undefined;
    const limits = { ...this._limits };
    if (isFirst && Number(setting(player, 'abr.initialBitrate.video')) > 0) {
      const current = context.getRepresentation();
      limits.ladder = limits.allowed.filter(({ id }) => id === current.id);
    }
    return readSituation(player, context, { gauge, live, limits });
  }

  private _isAdaptive(): boolean {
    return setting(this._player, 'abr.autoSwitchBitrate.video') === true;
  }

  private _limitsOf(context: RulesContext): Limits | undefined {
    const described = this.bitrates.describe(context, allowedRepresentations(context));
    if (!described) {
      if (this._isAdaptive())
        this._events.fault('unsupported-stream', 'representations have no bandwidth: dash.js decides');
      return undefined;
    }
    const { ladder } = described;
    const { bitrateBps } = ladder[ladder.length - 1]!;
    const { id: periodId } = context.getStreamInfo();
    const isSamePeriod = periodId === this._top.periodId;
    this._isOutgrown = isSamePeriod && (this._isOutgrown || bitrateBps > this._top.bitrateBps);
    this._top = { periodId, bitrateBps };
    const bufferTargetSeconds = context.getScheduleController().getBufferTarget();
    return { ...described, displayedLines: displayedLines(this.gauge.element()), bufferTargetSeconds };
  }

  /**
   * Switches: returns the representation for dash.js. During a download it is the present one, because dash.js abandons no
   * download for the current one. If the page allows a higher bitrate, dash.js replaces the buffer from 1.5 segments on.
   */
  switchTo(choice: Choice, isLoading: boolean): Representation | undefined {
    if (isLoading) return this._context!.getRepresentation();
    const replaces = this._isOutgrown && this.mayReplace;
    const path = 'buffer.fastSwitchEnabled';
    const value = replaces ? null : false;
    const present = setting(this._player, path);
    // The page may have set `true` since.
    if (this.mayReplace && present !== value && present !== true) set(this._player, path, value);
    this._isOutgrown = false;
    return this.representation(choice);
  }

  abandon(choice: Choice): void {
    const context = this._context!;
    const reason = { forceAbandon: true, message: choice.message };
    const representation = this.representation(choice);
    // The page has forbidden it since the decision.
    if (!representation) return;
    // It aborts the segment in flight and requests it again.
    context.getAbrController().setPlaybackQuality('video', context.getStreamInfo(), representation, reason);
    this.live.repeat(videoProcessor(context));
  }

  representation({ representationId }: Choice): Representation | undefined {
    return this._context && allowedRepresentations(this._context).find(({ id }) => id === representationId);
  }

  sourceEnded(): void {
    this.gauge.forget();
    this.gauge.isQuotaExceeded = false;
    this.live.forget();
    this.bitrates.forget();
    this.asked();
  }
}

/* Where dash.js asks: the plugin as one of its quality switch rules. */

export const SWITCH_RULE = 'LeoAbrRule';

/** dash.js's DEFAULT: above the throughput rule (see settings.ts), equal to DroppedFramesRule. */
const PRIORITY = 0.5;

/**
 * Makes the rule factory for `addABRCustomRule`. dash.js calls the rule before each segment's request; the rule has no
 * opinion on audio and text. Whenever one of dash.js's own rules is switched on or off, dash.js makes another instance
 * of a custom rule and keeps the earlier ones, even after the rule's removal: only the newest decides.
 */
export function switchRule(flow: (Flow & { readonly port: DashPort }) | undefined) {
  let newest: object;
  const rule = () => ({
    create() {
      const instance = {
        getClassName: () => SWITCH_RULE,
        getSwitchRequest(context: RulesContext) {
          const opinion = flow?.guard(() => {
            if (instance !== newest || context.getMediaType() !== 'video') return undefined;
            const { port, isLoading } = flow!;
            port.asked(context);
            const choice = flow!.decide();
            // The page may have forbidden it in a listener.
            const representation = choice && port.switchTo(choice, isLoading);
            return representation && { representation, reason: { message: choice.message } };
          });
          return { representation: null, priority: PRIORITY, rule: SWITCH_RULE, ...opinion };
        },
      };
      newest = instance;
      return instance;
    },
  });
  return {
    rule,
    /** dash.js keeps the instances, but nothing of the plugin. */
    release() {
      flow = undefined;
    },
  };
}
