/** The core's connection to one player: its events, its settings, and the level to load next. */

import type Hls from 'hls.js';
import type { HlsListeners, Level } from 'hls.js';
import type { Adaptation } from '../core/adaptation.ts';
import type { LiveOptions } from '../core/options.ts';
import type { Choice } from '../core/player-port.ts';
import { installCmcd } from './cmcd.ts';
import { allowedLevels, representationOf } from './levels.ts';
import { keepPartEnds } from './part-ends.ts';
import { classOf } from './player.ts';
import { createRequests } from './requests.ts';

export type Connection = ReturnType<typeof connectTo>;

/** `ownFirst`: the level that hls.js itself would play first. */
export function connectTo(
  hls: Hls,
  ownFirst: () => number,
  { adaptation, options }: { adaptation: Adaptation; options: { live: LiveOptions } },
) {
  const { guard, session, decisions } = adaptation;
  const { config } = hls;
  const { Events } = classOf(hls);
  const requests = createRequests(hls, adaptation);
  // Otherwise a page's `startLevel: -1` makes hls.js load the first segment twice.
  const restoreTest = override(config, 'testBandwidth', false);
  const restoreCmcd = installCmcd(config, adaptation);
  const restoreEnds = keepPartEnds(hls);
  let restoreTarget = () => {};
  let target: unknown;
  let hasSource = false;
  let isInCharge = false;
  let playlistSeconds = 0;
  let leaveMedia = () => {};

  function setTarget(): void {
    const { targetLatencySeconds } = options.live;
    // Before it has a source, hls.js may still be under construction.
    if (targetLatencySeconds === target || !hasSource) return;
    target = targetLatencySeconds;
    restoreTarget();
    restoreTarget = () => {};
    if (typeof targetLatencySeconds !== 'number') return;
    // A setter of hls.js marks this setting as the page's.
    const { liveSyncDuration } = config;
    hls.targetLatency = targetLatencySeconds;
    restoreTarget = () => {
      if (config.liveSyncDuration === targetLatencySeconds) Object.assign(config, { liveSyncDuration });
    };
  }

  const stopListening = listen(
    hls,
    {
      [Events.MANIFEST_LOADING]() {
        if (hasSource) {
          adaptation.sourceEnded();
          requests.forget();
        }
        hasSource = true;
        setTarget();
      },
      [Events.MEDIA_ATTACHED]({ media }) {
        const handlers = {
          seeking: () => guard(() => session.seeked()),
          playing: () => guard(() => session.playing()),
        };
        for (const [type, handler] of Object.entries(handlers)) media.addEventListener(type, handler);
        leaveMedia = () => {
          for (const [type, handler] of Object.entries(handlers)) media.removeEventListener(type, handler);
        };
      },
      [Events.MEDIA_DETACHING]: () => leaveMedia(),
      [Events.LEVEL_LOADED]({ stats: { loading }, deliveryDirectives }) {
        // A server answers a blocking request when the playlist has grown.
        if (deliveryDirectives?.msn === undefined) playlistSeconds = (loading.end - loading.start) / 1000;
      },
      [Events.FRAG_LOADING]: requests.begun,
      [Events.FRAG_LOADED]: requests.loaded,
      [Events.ERROR]: requests.failed,
    },
    guard,
  );

  const allowed = (): Level[] => (hls.autoLevelEnabled ? allowedLevels(hls, ownFirst) : []);
  const levelOf = ({ representationId }: Choice) =>
    hls.levels.indexOf(allowed().find((level) => representationOf(level).id === representationId)!);
  const isFull = () => (hls.mainForwardBufferInfo?.len ?? 0) >= hls.maxBufferLength;

  const isAtEnd = () => {
    const { latestLevelDetails: details } = hls;
    return details && !details.live && session.record.last?.index === details.endSN;
  };

  return {
    hls,
    allowed,
    setTarget,
    /** Seconds that the latest media playlist took to load; 0 before. */
    playlistSeconds: () => playlistSeconds,
    /** Whether the plugin chose the level that plays, and watches its downloads. */
    isInCharge: () => isInCharge,
    /** The level to load next; undefined leaves it to hls.js. hls.js asks ten times a second and oftener. */
    choose: (): number | undefined =>
      guard(() => {
        if (allowed().length === 0) return undefined;
        // hls.js would load the playlist of another level at once.
        if (hls.loadLevel >= 0 && (requests.loading() || isFull() || isAtEnd())) return hls.loadLevel;
        const choice = decisions.decide();
        isInCharge = choice !== undefined;
        return choice && levelOf(choice);
      }),
    abandon(choice: Choice): void {
      const frag = requests.loading();
      if (!frag) return;
      const level = levelOf(choice);
      // Both, as hls.js does (its pull request 6082).
      hls.nextAutoLevel = level;
      hls.nextLoadLevel = level;
      frag.abortRequests();
      hls.trigger(Events.FRAG_LOAD_EMERGENCY_ABORTED, { frag, part: null, stats: frag.stats });
    },
    /** Ends it: of a player that goes on, or is being destroyed. */
    disconnect(): void {
      isInCharge = false;
      stopListening();
      leaveMedia();
      restoreTest();
      restoreCmcd();
      restoreEnds();
      restoreTarget();
      requests.forget();
    },
  };
}

type Handlers = { [E in keyof HlsListeners]?: (data: Parameters<HlsListeners[E]>[1]) => void };

function listen(hls: Hls, handlers: Handlers, guard: (action: () => void) => void): () => void {
  // The types of hls.js know each event, but no union of them.
  const bus = hls as unknown as Record<
    'on' | 'off',
    (type: string, listener: (type: string, data: never) => void) => void
  >;
  const guarded = Object.entries(handlers as Record<string, (data: never) => void>).map(
    ([type, handler]) => [type, (_: string, data: never) => guard(() => handler(data))] as const,
  );
  for (const one of guarded) bus.on(...one);
  return () => {
    for (const one of guarded) bus.off(...one);
  };
}

/** Returns a function that restores the previous value, if nobody has changed it since. */
function override<O, K extends keyof O>(object: O, key: K, value: O[K]): () => void {
  const before = object[key];
  object[key] = value;
  return () => {
    if (object[key] === value) object[key] = before;
  };
}
