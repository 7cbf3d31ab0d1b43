/** Reads out of dash.js what a decision depends on, in the units and shapes of the core. */

import type { AbrController, MediaInfo, Representation, RulesContext, ScheduleController, StreamInfo } from 'dashjs';
import type { Period, Situation } from '../core/player-port.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, rangeBits, setting } from './player.ts';

/** A period's video as dash.js shows it to a rule. */
export interface VideoView {
  abr: AbrController;
  schedule: ScheduleController;
  mediaInfo: MediaInfo;
  streamInfo: StreamInfo;
  /** The one that dash.js would continue with. */
  current: Representation;
}

export function videoView(context: RulesContext): VideoView {
  return {
    abr: context.getAbrController(),
    schedule: context.getScheduleController(),
    mediaInfo: context.getMediaInfo(),
    streamInfo: context.getStreamInfo(),
    current: context.getRepresentation(),
  };
}

/** Representations that the page's limits allow, ascending in bitrate (dash.js sorts by quality); at least one. */
export function allowedRepresentations({ abr, mediaInfo }: VideoView): Representation[] {
  const allowed = abr.getPossibleVoRepresentationsFilteredBySettings(mediaInfo, true) ?? [];
  if (allowed.length === 0) throw new Error('no representation is allowed');
  return [...allowed].sort((a, b) => a.bandwidth - b.bandwidth);
}

export interface SituationSources {
  player: DashPlayer;
  view: VideoView;
  gauge: BufferGauge;
  isQuotaExceeded: boolean;
}

export function readSituation(sources: SituationSources): Situation {
  const { player, view, gauge } = sources;
  const { streamInfo, current } = view;
  const segmentSeconds = segmentDuration(current);
  const streams = view.schedule.getPlaybackController?.()?.getStreamController?.();
  const isActive = streams?.getActiveStreamInfo()?.id === streamInfo.id;
  const playableSeconds = gauge.playableSeconds();
  const bufferLevelSeconds = isActive ? gauge.levelSeconds(String(streamInfo.id)) : playableSeconds;
  const playhead = gauge.playheadSeconds();
  // The representations of the ladder have no index of segments; those of the stream processor have one.
  const indexed = streams
    ?.getStreamById(String(streamInfo.id))
    ?.getStreamProcessors()
    .find((processor) => processor.getType() === 'video')
    ?.getRepresentationController();
  return {
    period: periodOf(streamInfo, current),
    ladder: allowedRepresentations(view).map(({ id, bandwidth }) => ({ id, bitrateBps: bandwidth })),
    initialRepresentationId: Number(setting(player, 'abr.initialBitrate.video')) > 0 ? current.id : undefined,
    segmentSeconds,
    bufferLevelSeconds,
    bufferCapSeconds: bufferCap(sources, segmentSeconds),
    bufferedUntilSeconds: isActive ? playhead + bufferLevelSeconds : undefined,
    playableUntilSeconds: playhead + playableSeconds,
    indexedBits(id, index) {
      const segments = indexed?.getRepresentationById(id)?.segments as { mediaRange?: string }[] | null | undefined;
      return rangeBits(segments?.[index]?.mediaRange);
    },
  };
}

/** A period with the segments of one representation; all of a ladder have as many. */
export function periodOf({ id, start, duration, manifestInfo }: StreamInfo, representation: Representation): Period {
  const segmentSeconds = segmentDuration(representation);
  const segmentsIn = (seconds: number) => Math.max(0, Math.ceil(seconds / segmentSeconds - 0.01));
  const hasEnd = !manifestInfo.isDynamic && Number.isFinite(duration);
  const { numberOfSegments } = representation.mediaFinishedInformation ?? {};
  return {
    id: String(id),
    startSeconds: start,
    firstIndex: manifestInfo.isDynamic ? 0 : Math.round(start / segmentSeconds),
    segmentCount: hasEnd ? numberOfSegments || segmentsIn(duration) : Number.POSITIVE_INFINITY,
    segmentsAfter: hasEnd ? segmentsIn(manifestInfo.duration - start - duration) : 0,
  };
}

function segmentDuration({ id, segmentDuration, fragmentDuration }: Representation): number {
  const seconds = segmentDuration || fragmentDuration;
  if (!seconds) throw new Error(`representation ${id} has no segment duration`);
  return seconds;
}

/** The limit that dash.js compares buffer level + segment duration with before a request. */
function bufferCap({ player, view, isQuotaExceeded }: SituationSources, segmentSeconds: number): number {
  let target = view.schedule.getBufferTarget();
  if (isQuotaExceeded) {
    // dash.js has cut the targets of the top quality alone; the plan may well go there.
    target = Math.min(target, Number(setting(player, 'buffer.bufferTimeAtTopQuality')));
  }
  // For targets of up to a segment dash.js compares the buffer level alone.
  return target > segmentSeconds ? target : target + segmentSeconds;
}
