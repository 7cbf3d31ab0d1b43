/** Observes hls.js. */

import type { Outcome } from '../../predictor/link/segment-download.ts';
import { EMITTER_METHODS, listen } from '../core/hooks.ts';
import { highest, type ObservedPlayer, type PlayerListener, versionOf } from './observed-player.ts';
import type { Transfer } from './transfers.ts';

interface Level {
  /** The declared peak. */
  bitrate: number;
  attrs?: { 'AVERAGE-BANDWIDTH'?: string };
  details?: { live: boolean };
}

interface HlsPlayer {
  levels: readonly Level[];
  latestLevelDetails?: { live: boolean } | null;
  media: HTMLMediaElement | null;
  latency: number;
}

interface Stats {
  loaded: number;
  total: number;
  aborted: boolean;
  loading: { start: number; first: number };
}

interface HlsEvent {
  frag?: {
    sn: number | 'initSegment';
    type: string;
    level: number;
    start: number;
    duration: number;
    bitrateTest: boolean;
    stats: Stats;
  };
  part?: { start: number; duration: number; stats: Stats } | null;
}

/** The declared mean, where there is one; hls.js's `averageBitrate` may be what it has measured. */
function bitrateOf(level: Level | undefined): number {
  return Number(level?.attrs?.['AVERAGE-BANDWIDTH']) || (level?.bitrate ?? 0);
}

export function observedHls(player: HlsPlayer): ObservedPlayer {
  const transferOf = ({ frag, part }: HlsEvent): Transfer => {
    const { type, level, bitrateTest } = frag!;
    const stats = () => (part ?? frag!).stats;
    return {
      isVideo: type === 'main' && !bitrateTest,
      receivedBits: () => 8 * stats().loaded,
      sizeBits: () => 8 * stats().total || bitrateOf(player.levels[level]) * (part ?? frag!).duration,
      isAborted: () => stats().aborted,
      firstByteSeconds: () => (stats().loading.first > 0 ? stats().loading.first / 1000 : undefined),
    };
  };
  const handlers = ({ sourceBegan, sourceEnded, sent, ended, buffered }: PlayerListener) => {
    /** By type: hls.js has no event for an abort. */
    const loading = new Map<string, NonNullable<HlsEvent['frag']>>();
    const end = (frag: NonNullable<HlsEvent['frag']>, outcome: Outcome) => {
      if (loading.get(frag.type) === frag) loading.delete(frag.type);
      ended(frag, outcome);
    };
    return {
      hlsManifestLoading() {
        sourceEnded();
        sourceBegan();
      },
      hlsDestroying: () => sourceEnded(),
      hlsFragLoading(event: HlsEvent) {
        const frag = event.frag!;
        if (event.part || frag.sn === 'initSegment' || frag.type === 'subtitle') return;
        const before = loading.get(frag.type);
        if (before) end(before, 'abandoned');
        loading.set(frag.type, frag);
        sent(frag, transferOf(event));
      },
      hlsFragLoaded(event: HlsEvent) {
        const { frag, part } = event;
        if (!part) return end(frag!, 'whole');
        // hls.js has an event for the first part of a row alone.
        sent(part, transferOf(event), part.stats.loading.start / 1000);
        ended(part, 'whole');
      },
      hlsFragLoadEmergencyAborted: ({ frag }: HlsEvent) => frag && end(frag, 'abandoned'),
      hlsError: ({ frag }: HlsEvent) => frag && end(frag, frag.stats?.aborted ? 'abandoned' : 'failed'),
      hlsFragBuffered({ frag, part }: HlsEvent) {
        const { start, duration } = part ?? frag!;
        const bitrateBps = bitrateOf(player.levels[frag!.level]);
        if (frag!.type !== 'main' || frag!.sn === 'initSegment' || !bitrateBps) return;
        buffered({ startSeconds: start, endSeconds: start + duration, bitrateBps });
      },
    };
  };
  return {
    name: 'hls.js',
    version: versionOf(player),
    listen: (listener, guard) => listen(player, EMITTER_METHODS, handlers(listener), guard),
    element: () => player.media,
    isLive: () => player.latestLevelDetails?.live ?? player.levels.find(({ details }) => details)?.details?.live,
    latencySeconds: () => player.latency || undefined,
    topBitrateBps: () => highest(player.levels.map(bitrateOf)),
  };
}
