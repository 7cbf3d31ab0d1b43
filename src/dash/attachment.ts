/** One plugin on one player: wires dash.js's events and rules to the session and the controller. */

import type { FragmentRequest, Representation, RulesContext } from 'dashjs';
import type { Controller, Decision, InFlight, PlayerState } from '../../abr/controller.ts';
import type { Forecast } from '../../abr/forecast.ts';
import { ObservationMeter } from '../../predictor/observation-meter.ts';
import type { Emitter } from '../events.ts';
import type { ResolvedOptions } from '../options.ts';
import { parseSizes, SegmentSizes } from '../segment-sizes.ts';
import { Session } from '../session.ts';
import { Abandoner } from './abandoner.ts';
import { BufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, listen, valueAt } from './player.ts';
import { allowedRepresentations, playerState, type VideoView, videoView } from './player-state.ts';
import { RequestFollower } from './requests.ts';
import { ABANDON_RULE_NAME, type Opinion, RULE_NAME, ruleFactory } from './rule.ts';
import { SettingsGuard } from './settings-guard.ts';

const NO_SESSION_UTC = undefined;

export class Attachment {
  readonly #player: DashPlayer;
  readonly #options: ResolvedOptions;
  readonly #events: Emitter;
  readonly #settings: SettingsGuard;
  readonly #sizes = new SegmentSizes();
  readonly #gauge: BufferGauge;
  readonly #requests: RequestFollower;
  readonly #abandoner: Abandoner;
  readonly #rule = ruleFactory(RULE_NAME, (context) => this.#switchOpinion(context));
  readonly #abandonRule = ruleFactory(ABANDON_RULE_NAME, (context) => this.#abandonOpinion(context));
  readonly #stops: (() => void)[];
  #session: Session;
  #meter: ObservationMeter;
  #controller: Controller;
  #view: VideoView | undefined;
  #forecasterStarted = false;
  #quotaExceeded = false;
  #isDetached = false;
  #lastDecision: Decision | undefined;

  /** Undefined, with a fault, where the player has the plugin already or refuses it. */
  static create(player: DashPlayer, options: ResolvedOptions, events: Emitter): Attachment | undefined {
    try {
      if (isInstalled(player)) {
        events.fault('already-attached', 'this player has the plugin already; the second attachment does nothing');
        return undefined;
      }
      return new Attachment(player, options, events);
    } catch (error) {
      events.fault('unsupported-player', 'the player refused the plugin, which does nothing', error);
      return undefined;
    }
  }

  private constructor(player: DashPlayer, options: ResolvedOptions, events: Emitter) {
    this.#player = player;
    this.#options = options;
    this.#events = events;
    this.#settings = new SettingsGuard(player);
    this.#session = new Session(1);
    this.#meter = this.#newMeter();
    this.#controller = options.newController();
    const guard = (handler: () => void) => this.#guard(handler);
    this.#gauge = new BufferGauge(player, guard);
    this.#requests = new RequestFollower({
      player,
      context: () => ({ session: this.#session, meter: this.#meter, sizes: this.#sizes }),
      clockMs,
      onVideoRequested: () => this.#abandoner.start(),
      onVideoEnded: () => {
        if (this.#session.active === undefined) this.#abandoner.stop();
      },
      guard,
    });
    this.#abandoner = new Abandoner({
      clockMs,
      activeRequest: () => this.#requests.activeVideo,
      reconsider: (request) => this.#reconsider(request),
      abrController: () => this.#view?.abr,
      onTick: () => this.#meter.advance(this.nowSeconds),
      guard,
    });
    const on = (type: string, handler: () => void) => listen(player, type, () => guard(handler));
    this.#stops = [
      // The rule and the settings are gone after player.reset(), which has this event on its way.
      on('streamTeardownComplete', () => {
        this.#newSession();
        queueMicrotask(() => guard(() => this.#ensureInstalled()));
      }),
      on('manifestLoadingStarted', () => this.#ensureInstalled()),
      on('playbackSeeking', () => {
        if (!this.#session.started) return;
        this.#session.seeked();
        this.#gauge.forget();
      }),
      on('playbackPlaying', () => {
        this.#session.started = true;
      }),
      on('quotaExceeded', () => {
        this.#quotaExceeded = true;
      }),
    ];
    this.#install();
    if (options.sizes !== undefined) void this.#loadSizes(options.sizes);
  }

  get session(): Session {
    return this.#session;
  }

  get nowSeconds(): number {
    return this.#session.seconds(clockMs());
  }

  get lastDecision(): Decision | undefined {
    return this.#lastDecision;
  }

  detach(): void {
    if (this.#isDetached) return;
    this.#isDetached = true;
    this.#abandoner.stop();
    this.#rule.retire();
    this.#abandonRule.retire();
    // A player that was destroyed throws at all of these.
    for (const step of [
      ...this.#stops,
      () => this.#requests.stop(),
      () => this.#gauge.stop(),
      () => this.#player.removeABRCustomRule(RULE_NAME),
      () => this.#player.removeABRCustomRule(ABANDON_RULE_NAME),
      () => this.#settings.restore(),
    ]) {
      try {
        step();
      } catch {
        // Nothing is left to give back.
      }
    }
  }

  /** Rules first: switching one of dash.js's rules then brings them in where playback is already under way. */
  #install(): void {
    this.#player.addABRCustomRule('qualitySwitchRules', RULE_NAME, this.#rule.factory);
    if (this.#controller.reconsider !== undefined) {
      this.#player.addABRCustomRule('abandonFragmentRules', ABANDON_RULE_NAME, this.#abandonRule.factory);
    }
    this.#settings.apply();
  }

  #ensureInstalled(): void {
    if (!this.#isDetached && !isInstalled(this.#player)) this.#install();
  }

  #newSession(): void {
    this.#abandoner.stop();
    this.#requests.forget();
    this.#gauge.forget();
    this.#session = new Session(this.#session.number + 1);
    this.#meter = this.#newMeter();
    this.#sizes.forget();
    this.#view = undefined;
    this.#forecasterStarted = false;
    this.#quotaExceeded = false;
    this.#controller = this.#options.newController();
  }

  #newMeter(): ObservationMeter {
    return new ObservationMeter({
      emit: (observation) => this.#askForecaster((forecaster) => forecaster.observe(observation)),
    });
  }

  async #loadSizes(sizes: NonNullable<ResolvedOptions['sizes']>): Promise<void> {
    try {
      const isUrl = typeof sizes === 'string' || sizes instanceof URL;
      this.#sizes.useFile(parseSizes(isUrl ? await fetchJson(sizes) : sizes));
    } catch (error) {
      this.#events.fault('sizes-unusable', `segment sizes are estimated instead: ${messageOf(error)}`, error);
    }
  }

  /** Before a segment's request. */
  #switchOpinion(context: RulesContext): Opinion {
    return this.#guarded(() => {
      // Audio and text are dash.js's own affair.
      if (context.getMediaType() !== 'video') return undefined;
      const view = videoView(context);
      this.#view = view;
      this.#startForecaster();
      this.#meter.advance(this.nowSeconds);
      let representations = allowedRepresentations(view);
      // The first segment is the page's choice where it has made one.
      const initial = Number(valueAt(this.#player.getSettings(), 'streaming.abr.initialBitrate.video'));
      if (!this.#session.isRunning && initial > 0) {
        representations = representations.filter(({ id }) => id === view.current.id);
        if (representations.length === 0) return undefined;
      }
      const state = this.#state(view, representations, 'next');
      const forecast = this.#forecast(state.nowSeconds);
      return this.#conclude({ view, representations, state, forecast, inFlight: undefined }, () =>
        this.#controller.decide(state, forecast),
      );
    });
  }

  /** While a segment is under way, from the timer. */
  #reconsider(request: FragmentRequest): Opinion {
    return this.#guarded(() => {
      const view = this.#view;
      const inFlight = this.#session.inFlight();
      const { reconsider } = this.#controller;
      if (reconsider === undefined || view === undefined || inFlight === undefined) return undefined;
      if (request.representation?.mediaInfo?.streamInfo?.id !== view.streamInfo.id) return undefined;
      if (valueAt(this.#player.getSettings(), 'streaming.abr.autoSwitchBitrate.video') !== true) return undefined;
      const representations = allowedRepresentations(view);
      const state = this.#state(view, representations, 'in flight');
      const forecast = this.#forecast(state.nowSeconds);
      return this.#conclude({ view, representations, state, forecast, inFlight }, () =>
        reconsider.call(this.#controller, state, inFlight, forecast),
      );
    });
  }

  /** While a segment is under way, asked by dash.js at a progress event; only where the timer cannot act. */
  #abandonOpinion(context: RulesContext): Opinion {
    if (context.getMediaType() !== 'video' || this.#abandoner.isDirect) return undefined;
    const request = context.getCurrentRequest();
    return request === this.#requests.activeVideo ? this.#reconsider(request) : undefined;
  }

  /** Has the controller decide, checks what it says and tells the listeners. */
  #conclude(
    basis: {
      view: VideoView;
      representations: readonly Representation[];
      state: PlayerState;
      forecast: Forecast | undefined;
      inFlight: InFlight | undefined;
    },
    decide: () => Decision | 'keep',
  ): Opinion {
    const { view, representations, state, forecast, inFlight } = basis;
    let decision: Decision | 'keep';
    let representation: Representation | undefined;
    try {
      decision = decide();
      if (decision === 'keep') return undefined;
      representation = representations[decision.representation];
      if (representation === undefined) {
        throw new Error(`representation ${decision.representation} of a ladder of ${representations.length}`);
      }
    } catch (error) {
      this.#events.fault('controller-failed', `the controller gave no decision: ${messageOf(error)}`, error);
      return undefined;
    }
    this.#lastDecision = decision;
    this.#events.decision({
      kind: inFlight === undefined ? 'decide' : 'abandon',
      session: this.#session.number,
      decision,
      state,
      forecast,
      inFlight,
      representationId: representation.id,
      streamId: String(view.streamInfo.id),
    });
    return { representation, message: `${decision.controller}: ${decision.reason}` };
  }

  #state(view: VideoView, representations: readonly Representation[], about: 'next' | 'in flight'): PlayerState {
    return playerState(view, representations, about, {
      player: this.#player,
      session: this.#session,
      sizes: this.#sizes,
      gauge: this.#gauge,
      clockMs: clockMs(),
      utc: this.#utc(),
      qoe: this.#options.qoe,
      horizon: this.#options.horizon,
      quotaExceeded: this.#quotaExceeded,
    });
  }

  #utc(): { utcMs: number; uncertaintySeconds: number } | undefined {
    try {
      const { utcMs, uncertaintySeconds } = this.#options.timeSource.now();
      if (!Number.isFinite(utcMs) || !(uncertaintySeconds >= 0)) {
        throw new Error(`utcMs ${utcMs}, uncertaintySeconds ${uncertaintySeconds}`);
      }
      return { utcMs, uncertaintySeconds };
    } catch (error) {
      this.#events.fault('time-source-failed', `the time source gave no time: ${messageOf(error)}`, error);
      return NO_SESSION_UTC;
    }
  }

  #startForecaster(): void {
    if (this.#forecasterStarted) return;
    this.#forecasterStarted = true;
    const { seed } = this.#options;
    const utc = this.#options.forecaster === undefined ? undefined : this.#utc();
    const context =
      utc === undefined
        ? { seed }
        : { seed, utcMsAtStart: utc.utcMs - this.nowSeconds * 1000, utcUncertaintySeconds: utc.uncertaintySeconds };
    this.#askForecaster((forecaster) => forecaster.start(context));
  }

  #forecast(nowSeconds: number): Forecast | undefined {
    return this.#askForecaster((forecaster) => forecaster.latest(nowSeconds));
  }

  #askForecaster<T>(ask: (forecaster: NonNullable<ResolvedOptions['forecaster']>) => T): T | undefined {
    const { forecaster } = this.#options;
    if (forecaster === undefined) return undefined;
    try {
      return ask(forecaster);
    } catch (error) {
      this.#events.fault('forecaster-failed', `the forecaster threw: ${messageOf(error)}`, error);
      return undefined;
    }
  }

  #guard(handler: () => void): void {
    this.#guarded(() => {
      handler();
      return undefined;
    });
  }

  /** Nothing that goes wrong here reaches dash.js. */
  #guarded(ask: () => Opinion): Opinion {
    try {
      return ask();
    } catch (error) {
      this.#events.fault('player-failed', `dash.js was not as expected: ${messageOf(error)}`, error);
      return undefined;
    }
  }
}

function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === RULE_NAME);
}

/** Milliseconds of a clock that never runs backwards. */
function clockMs(): number {
  return performance.now();
}

async function fetchJson(url: string | URL): Promise<unknown> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
