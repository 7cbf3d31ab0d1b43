/** hls.js: the settings, its requests, and the plugin in it. */

import Hls, { type Fragment } from 'hls.js';
import type { LeoAbrOptions } from 'leo-abr';
import { createController } from '../../../src/hls/abr.ts';
import { keepPartEnds } from '../../../src/hls/part-ends.ts';
import { DEFAULT_PLAYBACK_RATES } from '../../catch-up.ts';
import {
  BUFFER_BEHIND_SECONDS,
  bufferGoalSeconds,
  estimateText,
  type PlayerContext,
  playElement,
  REQUEST_TIMEOUT_MS,
  type TestPlayer,
} from './test-player.ts';

/** A slow request is no error. A failed request is repeated until the session ends. */
const RETRY = { maxNumRetry: 1000, retryDelayMs: 500, maxRetryDelayMs: 2000 };
const LOAD_POLICY = {
  default: {
    maxTimeToFirstByteMs: REQUEST_TIMEOUT_MS,
    maxLoadTimeMs: REQUEST_TIMEOUT_MS,
    timeoutRetry: RETRY,
    errorRetry: RETRY,
  },
};

export function hlsPlayer(context: PlayerContext): TestPlayer {
  const { scenario, sessionUrl } = context.config;
  const { live, segmentSeconds } = scenario;
  const goalSeconds = bufferGoalSeconds(scenario);
  const settings = {
    maxBufferLength: goalSeconds,
    maxMaxBufferLength: goalSeconds,
    // Otherwise low bitrates would get a larger buffer.
    maxBufferSize: 0,
    backBufferLength: BUFFER_BEHIND_SECONDS,
    capLevelToPlayerSize: false,
    fragLoadPolicy: LOAD_POLICY,
    ...(live && {
      maxLiveSyncPlaybackRate: (live.playbackRates ?? DEFAULT_PLAYBACK_RATES).max,
      // The scenario's target holds. By default each stall adds a second to it.
      liveSyncOnStallIncrease: 0,
    }),
  };
  let hls: Hls | undefined;
  const idByBandwidth = new Map<string, string>();

  return {
    version: Hls.version,
    attach({ sizes, ...options }, tools) {
      const { representations } = sizes as Exclude<LeoAbrOptions['sizes'], string | URL | undefined>;
      const byBandwidth = Object.entries(representations).map(([id, bytes]) => {
        // The playlists' `BANDWIDTH` is the peak; the plugin names representations by it.
        const bandwidth = String(Math.ceil((Math.max(...(bytes as number[])) * 8) / segmentSeconds));
        idByBandwidth.set(bandwidth, id);
        return [bandwidth, bytes];
      });
      const representationsOfHls = { representations: Object.fromEntries(byBandwidth) };
      const abrController = createController({ ...options, sizes: representationsOfHls }, tools);
      hls = new Hls({ ...settings, abrController });
      return abrController.handle;
    },
    start() {
      if (!hls) {
        hls = new Hls(settings);
        // The plugin does this, too: sessions compare ABRs, not a flaw of hls.js.
        keepPartEnds(hls, (action, event) => action(event!));
      }
      record(hls, context);
      hls.loadSource(`${sessionUrl}master.m3u8`);
      hls.attachMedia(context.video);
      playElement(context);
    },
    representationId: (bandwidth) => idByBandwidth.get(bandwidth) ?? bandwidth,
    rest: () => hls?.stopLoad(),
    destroy: () => hls?.destroy(),
  };
}

/** Records requests. A live segment is requested in its parts. */
function record(player: Hls, { config, requests, onFault }: PlayerContext): void {
  const { live, segmentSeconds } = config.scenario;
  const chunkCount = live ? Math.round(segmentSeconds / live.chunkSeconds) : 1;
  const { Events } = Hls;
  let loading: Fragment | undefined;
  /** Nothing of `loading` has arrived. */
  let isFirst = true;
  /** The parts of a segment are one download; hls.js makes another object for each update of the playlist. */
  const requestOf = (frag: Fragment) => (loading?.sn === frag.sn && loading.level === frag.level ? loading : frag);
  function end(frag: Fragment, outcome: 'complete' | 'abandoned' | 'failed', bytes: number | undefined): void {
    const request = requestOf(frag);
    requests.ended(request, outcome, bytes);
    if (request === loading) loading = undefined;
  }
  player.on(Events.FRAG_LOADING, (_, { frag, part }) => {
    if (frag.type !== 'main' || frag.sn === 'initSegment' || (part && requestOf(frag) === loading)) return;
    // If hls.js loads another level instead, it ends a request without an event.
    if (loading) end(loading, 'abandoned', loading.stats.loaded);
    loading = frag;
    isFirst = true;
    // A segment that is still in production has no URL.
    const [, representationId] = /(video-\d+)\.m3u8/.exec(player.levels[frag.level]!.uri)!;
    requests.started(frag, {
      index: frag.sn,
      representationId: representationId!,
      loadedBytes: () => frag.stats.loaded,
      ownReason: () => estimateText('hls.js', player.bandwidthEstimate),
    });
  });
  player.on(Events.FRAG_LOADED, (_, { frag, part, networkDetails }) => {
    const request = requestOf(frag);
    // hls.js requests the first part after the initialisation segment, a whole segment together with it.
    const sentAtMs = part && isFirst ? part.stats.loading.start : undefined;
    isFirst = false;
    requests.responded(request, (networkDetails as XMLHttpRequest).getResponseHeader('x-trace-seconds'), sentAtMs);
    if (part) requests.received(request, part.stats.loaded);
    if (part && part.index < chunkCount - 1) return;
    end(frag, 'complete', part ? undefined : frag.stats.loaded);
  });
  player.on(Events.FRAG_LOAD_EMERGENCY_ABORTED, (_, { frag }) => end(frag, 'abandoned', frag.stats.loaded));
  player.on(Events.ERROR, (_, { frag, part, stats, fatal, details, error }) => {
    // The error belongs to an earlier load of the same segment.
    const isOld = !part && stats !== undefined && stats !== frag?.stats;
    if (frag && !isOld) end(frag, frag.stats.aborted ? 'abandoned' : 'failed', frag.stats.loaded);
    if (fatal) onFault(`hls.js: ${details}: ${error.message}`);
  });
}
