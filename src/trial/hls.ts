/** Observes hls.js. */

import type Hls from 'hls.js';
import type { ErrorData, FragLoadedData, FragLoadingData, Fragment, Level, Part } from 'hls.js';
import { EMITTER_METHODS, listen } from '../core/hooks.ts';
import { type ObservedPlayer, type PlayerListener, versionOf } from './observed-player.ts';

/** hls.js 1.5 has no `latestLevelDetails`. */
type HlsPlayer = Pick<Hls, 'levels' | 'media' | 'latency'> & Partial<Pick<Hls, 'latestLevelDetails'>>;

/** The declared mean, where there is one; hls.js's `averageBitrate` may be what it has measured. */
function bitrateOf(level: Level | undefined): number {
  return Number(level?.attrs?.['AVERAGE-BANDWIDTH']) || (level?.bitrate ?? 0);
}

/** Of a segment, or one of its parts. hls.js may correct their times, and counts in new objects at each attempt. */
function transferOf({ levels }: HlsPlayer, frag: Fragment, media: Fragment | Part = frag) {
  const bitrateBps = bitrateOf(levels[frag.level]);
  const video = () => ({ startSeconds: media.start, durationSeconds: media.duration, bitrateBps });
  return {
    // A test of the bandwidth is loaded again to be played.
    video: frag.type === 'main' && !frag.bitrateTest ? video : undefined,
    progress() {
      const { loaded, aborted, loading } = media.stats;
      return { bits: 8 * loaded, isAborted: aborted, firstByteSeconds: loading.first / 1000 || undefined };
    },
  };
}

function handlers(player: HlsPlayer, { sourceBegan, sourceEnded, transfers }: PlayerListener) {
  const latest = new Map<string, Fragment>();
  return {
    hlsManifestLoading: () => sourceBegan(),
    hlsDestroying: () => sourceEnded(),
    hlsFragLoading({ frag, part }: FragLoadingData) {
      if (part || frag.sn === 'initSegment' || frag.type === 'subtitle') return;
      // hls.js has no event for an abort.
      const before = latest.get(frag.type);
      if (before) transfers()?.ended(before, 'abandoned');
      latest.set(frag.type, frag);
      transfers()?.sent(frag, transferOf(player, frag));
    },
    hlsFragLoaded({ frag, part }: FragLoadedData) {
      // hls.js has an event for the first part of a row alone.
      if (part)
        transfers()?.sent(part, { ...transferOf(player, frag, part), sentSeconds: part.stats.loading.start / 1000 });
      transfers()?.ended(part ?? frag, 'whole');
    },
    hlsError: ({ frag }: ErrorData) => frag && transfers()?.ended(frag, frag.stats?.aborted ? 'abandoned' : 'failed'),
  };
}

export function observedHls(player: HlsPlayer): ObservedPlayer {
  return {
    name: 'hls.js',
    version: versionOf(player),
    listen: (listener, guard) => listen(player, EMITTER_METHODS, handlers(player, listener), guard),
    element: () => player.media,
    isLive: () => player.latestLevelDetails?.live ?? player.levels.find(({ details }) => details)?.details?.live,
    latencySeconds: () => player.latency || undefined,
    bitratesBps: () => player.levels.map(bitrateOf),
  };
}
