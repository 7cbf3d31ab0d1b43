/** One plugin on one player: wires dash.js's events and rules to the session and the controller. */

import type { FragmentRequest, Representation, RulesContext } from 'dashjs';
import type { Controller, Decision, InFlight, PlayerState } from '../../abr/controller.ts';
import type { Forecast } from '../../abr/forecast.ts';
import type { Events } from '../events.ts';
import type { ResolvedOptions } from '../options.ts';
import { parseSizes, SegmentSizes, type SizesFile } from '../segment-sizes.ts';
import { inFlightOf, isBlind, newSession, type Session, sessionSeconds } from '../session.ts';
import { createAbandoner } from './abandoner.ts';
import { bufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, listen, originOf, periodOf, setting } from './player.ts';
import { allowedRepresentations, playerState, type VideoView, videoView } from './player-state.ts';
import { followRequests } from './requests.ts';
import { ABANDON_RULE, type Opinion, ruleFactory, SWITCH_RULE } from './rule.ts';
import { applySettings } from './settings-guard.ts';

export interface Attachment {
  /** The running session. */
  session(): Session;
  nowSeconds(): number;
  lastDecision(): Decision | undefined;
  lastForecast(): Forecast | undefined;
  detach(): void;
}

/** What a decision is based on. */
interface Basis {
  view: VideoView;
  representations: readonly Representation[];
  state: PlayerState;
  forecast: Forecast | undefined;
  inFlight: InFlight | undefined;
}

const clockMs = () => performance.now();

/** The player has the plugin. */
export function isInstalled(player: DashPlayer): boolean {
  return player.getABRCustomRules().some((rule: { rulename?: unknown }) => rule.rulename === SWITCH_RULE);
}

export function attach(player: DashPlayer, options: ResolvedOptions, events: Events): Attachment {
  const { timeSource } = options;
  const sizes = new SegmentSizes();
  const gauge = bufferGauge(player);
  let session = newSession(1);
  const forecasting = options.newForecasting?.({ events, origin: () => originOf(player) });
  let isForecasting = false;
  let controller: Controller = options.newController();
  /** Of the latest call of our rule. */
  let view: VideoView | undefined;
  let lastDecision: Decision | undefined;
  let lastForecast: Forecast | undefined;
  let restoreSettings = () => {};
  let isDetached = false;

  const nowSeconds = () => sessionSeconds(session, clockMs());
  /** Nothing that goes wrong here reaches dash.js. */
  const guard = <T>(action: () => T): T | undefined =>
    events.attempt('player-failed', 'dash.js is not as expected', action);

  const requests = followRequests({
    player,
    running: () => ({ session, meter: forecasting?.meter, sizes }),
    clockMs,
    onStart: startForecasting,
    onVideo: () => abandoner.update(),
    onProgress: () => abandoner.progressed(),
    guard,
  });
  const abandoner = createAbandoner({
    clockMs,
    activeRequest: requests.activeVideo,
    reconsider: abandonOpinion,
    abrController: () => (canAbandonAtOnce() ? view?.abr : undefined),
    onTick: () => forecasting?.meter.advance(nowSeconds()),
    guard,
  });
  const canAbandonAtOnce = () => typeof view?.abr.setPlaybackQuality === 'function';

  const switchRule = ruleFactory(SWITCH_RULE, (context) => guard(() => switchOpinion(context)));
  const abandonRule = ruleFactory(ABANDON_RULE, (context) =>
    guard(() => {
      const request = context.getCurrentRequest();
      return canAbandonAtOnce() || request !== requests.activeVideo() ? undefined : abandonOpinion(request);
    }),
  );

  /** Rules first: switching one of dash.js's rules then brings them in where playback is already under way. */
  function install(): void {
    if (isDetached || isInstalled(player)) return;
    player.addABRCustomRule('qualitySwitchRules', SWITCH_RULE, switchRule);
    if (controller.reconsider) player.addABRCustomRule('abandonFragmentRules', ABANDON_RULE, abandonRule);
    restoreSettings = applySettings(player);
  }

  const on = (type: string, handler: () => void) => listen(player, type, () => guard(handler));
  const stops = [
    on('streamTeardownComplete', () => {
      beginSession();
      // player.reset(), whose last event this is, goes on to drop the rules and the settings.
      queueMicrotask(() => guard(install));
    }),
    on('manifestLoadingStarted', install),
    on('playbackSeeking', () => {
      if (!session.started) return;
      session.last = undefined;
      session.beforeLast = undefined;
      gauge.forget();
    }),
    on('playbackPlaying', () => {
      session.started = true;
    }),
    on('quotaExceeded', () => {
      session.quotaExceeded = true;
    }),
    () => forecasting?.stop(),
    gauge.stop,
    requests.stop,
    abandoner.stop,
  ];
  install();
  if (options.sizes !== undefined) {
    loadSizes(options.sizes).then(
      (file) => sizes.useFile(file),
      (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error),
    );
  }

  function beginSession(): void {
    abandoner.stop();
    requests.forget();
    gauge.forget();
    sizes.forget();
    session = newSession(session.number + 1);
    isForecasting = false;
    controller = options.newController();
    view = undefined;
    lastForecast = undefined;
  }

  function utcNow() {
    return events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds } = timeSource.now();
      if (!(Number.isFinite(utcMs) && uncertaintySeconds >= 0)) throw new Error(`${utcMs} +- ${uncertaintySeconds}`);
      return { utcMs, utcUncertaintySeconds: uncertaintySeconds };
    });
  }

  /** At the first media request, or at the decision on it. */
  function startForecasting(): void {
    if (isForecasting || forecasting === undefined) return;
    isForecasting = true;
    const { utcMs, ...uncertainty } = utcNow() ?? {};
    const atStart = utcMs === undefined ? {} : { utcMsAtStart: utcMs - nowSeconds() * 1000, ...uncertainty };
    forecasting.start({ seed: options.seed, ...atStart });
  }

  /** Before a segment's request. Audio and text are dash.js's own affair. */
  function switchOpinion(context: RulesContext): Opinion {
    if (isDetached || context.getMediaType() !== 'video') return undefined;
    startForecasting();
    if (isBlind(session)) {
      events.fault('nothing-measured', 'no download could be measured: dash.js decides until one can');
      return undefined;
    }
    view = videoView(context);
    const { current } = view;
    let representations = allowedRepresentations(view);
    // The first segment is the page's choice where it has made one.
    if (session.startMs === undefined && Number(setting(player, 'abr.initialBitrate.video')) > 0) {
      representations = representations.filter(({ id }) => id === current.id);
    }
    return conclude(basis(view, representations, undefined), ({ state, forecast }) =>
      controller.decide(state, forecast),
    );
  }

  /** While a segment is under way. */
  function abandonOpinion(request: FragmentRequest): Opinion {
    const inFlight = inFlightOf(session);
    if (!controller.reconsider || inFlight === undefined || view === undefined) return undefined;
    const isOfView = periodOf(request).id === view.streamInfo.id;
    if (!isOfView || setting(player, 'abr.autoSwitchBitrate.video') !== true) return undefined;
    return conclude(basis(view, allowedRepresentations(view), inFlight), ({ state, forecast }) => {
      const decision = controller.reconsider!(state, inFlight, forecast);
      return decision === 'keep' ? undefined : decision;
    });
  }

  function basis(view: VideoView, representations: readonly Representation[], inFlight: InFlight | undefined): Basis {
    const { qoe, horizon } = options;
    const now = nowSeconds();
    const clocks = { nowSeconds: now, ...utcNow() };
    const forecast = forecasting?.latest(clocks);
    lastForecast = forecast;
    const state = playerState({ player, view, representations, session, sizes, gauge, inFlight, clocks, qoe, horizon });
    return { view, representations, state, forecast, inFlight };
  }

  /** Has the controller decide, checks what it says and tells the listeners. */
  function conclude(basis: Basis, decide: (basis: Basis) => Decision | undefined): Opinion {
    const { view, representations, ...shown } = basis;
    return events.attempt('controller-failed', 'the controller failed', () => {
      const decision = decide(basis);
      if (decision === undefined) return undefined;
      const representation = representations[decision.representation];
      if (representation === undefined) throw new Error(`there is no representation ${decision.representation}`);
      lastDecision = decision;
      events.decision({
        kind: shown.inFlight === undefined ? 'decide' : 'abandon',
        session: session.number,
        decision,
        ...shown,
        representationId: representation.id,
        streamId: String(view.streamInfo.id),
      });
      return { representation, message: `${decision.controller}: ${decision.reason}` };
    });
  }

  return {
    session: () => session,
    nowSeconds,
    lastDecision: () => lastDecision,
    lastForecast: () => lastForecast,
    detach() {
      if (isDetached) return;
      isDetached = true;
      for (const step of [
        ...stops,
        () => player.removeABRCustomRule(SWITCH_RULE),
        () => player.removeABRCustomRule(ABANDON_RULE),
        restoreSettings,
      ]) {
        try {
          step();
        } catch {
          // A player that was destroyed throws: nothing is left to give back.
        }
      }
    },
  };
}

async function loadSizes(sizes: SizesFile | string | URL): Promise<SizesFile> {
  if (typeof sizes !== 'string' && !(sizes instanceof URL)) return parseSizes(sizes);
  const response = await fetch(sizes);
  if (!response.ok) throw new Error(`${sizes} answered ${response.status}`);
  return parseSizes(await response.json());
}
