/** Reads out of dash.js what a decision depends on. Units and shapes of dash.js become those of the controller here. */

import type { AbrController, MediaInfo, Representation, RulesContext, ScheduleController, StreamInfo } from 'dashjs';
import type { InFlight, PlayerState } from '../../abr/controller.ts';
import { bitrateWeights } from '../../abr/qoe.ts';
import type { SegmentSizes } from '../segment-sizes.ts';
import type { Session } from '../session.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, rangeBits, setting } from './player.ts';

/** Rows of sizes that a controller gets to see at least, whatever its horizon. */
const UPCOMING_SEGMENTS = 10;

/** A period's video as dash.js's rules are shown it. */
export interface VideoView {
  abr: AbrController;
  schedule: ScheduleController;
  mediaInfo: MediaInfo;
  streamInfo: StreamInfo;
  /** The one that dash.js would go on with. */
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

export interface StateSources {
  player: DashPlayer;
  view: VideoView;
  representations: readonly Representation[];
  session: Session;
  sizes: SegmentSizes;
  gauge: BufferGauge;
  /** The download that is reconsidered; undefined for a decision on the next segment. */
  inFlight: InFlight | undefined;
  clocks: Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;
  qoe: 'linear' | 'log';
  horizon: number;
}

/** The state for a decision; a copy that nobody changes any more. */
export function playerState(sources: StateSources): PlayerState {
  const { view, representations, session, gauge, inFlight, qoe } = sources;
  const { streamInfo, current } = view;
  const segmentSeconds = segmentDuration(current);
  const isActive = streamController(view)?.getActiveStreamInfo()?.id === streamInfo.id;
  const bufferLevelSeconds = isActive ? gauge.levelSeconds(String(streamInfo.id)) : gauge.playableSeconds();
  session.started ||= bufferLevelSeconds > 0;
  const segmentIndex = inFlight?.segmentIndex ?? nextIndex(sources, isActive ? bufferLevelSeconds : undefined);
  const inPeriod = segmentIndex - firstIndex(streamInfo, current);
  const segmentsRemaining = remainingSegments(view, inPeriod);
  const ladderBps = representations.map(({ bandwidth }) => bandwidth);
  return {
    utcMs: undefined,
    utcUncertaintySeconds: undefined,
    ...sources.clocks,
    started: session.started,
    ...playbackOf(sources),
    bufferLevelSeconds,
    bufferCapSeconds: bufferCap(sources, segmentSeconds),
    segmentSeconds,
    segmentIndex,
    segmentsRemaining,
    ladderBps,
    upcomingSizesBits: upcomingSizes(sources, { segmentIndex, inPeriod, segmentsRemaining, segmentSeconds }),
    previousBitrateBps: (inFlight === undefined ? session.last : session.beforeLast)?.bitrateBps,
    downloads: [...session.downloads],
    weights: bitrateWeights(qoe, ladderBps),
  };
}

/** The element's playback rate (dash.js can set 0 while it stalls) and whether the viewer has paused. */
function playbackOf({ player, session }: StateSources): Pick<PlayerState, 'playbackRate' | 'isPaused'> {
  let element: Partial<HTMLVideoElement> = {};
  try {
    element = player.getVideoElement() ?? element;
  } catch {
    // dash.js throws while no element is attached.
  }
  return { playbackRate: element.playbackRate || 1, isPaused: session.started && element.paused === true };
}

function segmentDuration({ id, segmentDuration, fragmentDuration }: Representation): number {
  const seconds = segmentDuration || fragmentDuration;
  if (!seconds) throw new Error(`representation ${id} has no segment duration`);
  return seconds;
}

/** Index of a period's first segment in the presentation; 0 where there is no telling, in a live stream. */
export function firstIndex({ manifestInfo, start }: StreamInfo, representation: Representation): number {
  return manifestInfo.isDynamic ? 0 : Math.round(start / segmentDuration(representation));
}

/** Index in the presentation of the segment that dash.js will ask for next. */
function nextIndex(
  { view: { streamInfo, current }, session: { last }, gauge }: StateSources,
  levelSeconds: number | undefined,
): number {
  const segmentSeconds = segmentDuration(current);
  const playhead = gauge.playheadSeconds();
  const isInPeriod = last?.streamId === String(streamInfo.id);
  // What was loaded is not there any more where another track has replaced it.
  const isReplaced = isInPeriod && playhead + levelSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  if (isInPeriod && !isReplaced) return last.index + 1;
  // The first of a period, or after a jump: the one at the end of what is buffered.
  const skippedSeconds = last && !isReplaced ? 0 : playhead + gauge.playableSeconds() - streamInfo.start;
  return firstIndex(streamInfo, current) + Math.max(0, Math.floor(skippedSeconds / segmentSeconds));
}

/** Segments left with the period's `index`-th, over all periods; `Infinity` where the end is not known. */
function remainingSegments({ current, streamInfo }: VideoView, index: number): number {
  const { manifestInfo, start, duration } = streamInfo;
  if (manifestInfo.isDynamic || !Number.isFinite(duration)) return Number.POSITIVE_INFINITY;
  const segmentsIn = (seconds: number) => Math.max(0, Math.ceil(seconds / segmentDuration(current) - 0.01));
  const inPeriod = current.mediaFinishedInformation?.numberOfSegments || segmentsIn(duration);
  return Math.max(1, inPeriod - index) + segmentsIn(manifestInfo.duration - start - duration);
}

/** What "buffer level + segment duration <" is compared with before a request is sent. */
function bufferCap({ player, view, session }: StateSources, segmentSeconds: number): number {
  let target = view.schedule.getBufferTarget();
  if (session.quotaExceeded) {
    // dash.js has cut the targets of the top quality alone; the plan may well go there.
    target = Math.min(target, Number(setting(player, 'buffer.bufferTimeAtTopQuality')));
  }
  // For targets of up to a segment dash.js compares the buffer level alone.
  return target > segmentSeconds ? target : target + segmentSeconds;
}

function upcomingSizes(
  { view, representations, sizes, horizon }: StateSources,
  next: { segmentIndex: number; inPeriod: number; segmentsRemaining: number; segmentSeconds: number },
): number[][] {
  const { segmentIndex, inPeriod, segmentsRemaining, segmentSeconds } = next;
  // The ladder's objects have no index of segments; those of the stream processor have.
  const controller = streamController(view)
    ?.getStreamById(String(view.streamInfo.id))
    ?.getStreamProcessors()
    .find((processor) => processor.getType() === 'video')
    ?.getRepresentationController();
  const known = representations.map(({ id, bandwidth }) => ({
    representationId: id,
    bitrateBps: bandwidth,
    segments: controller?.getRepresentationById(id)?.segments as { mediaRange?: string }[] | null | undefined,
  }));
  const period = { first: segmentIndex - inPeriod, count: view.current.mediaFinishedInformation?.numberOfSegments };
  const rows = Math.min(segmentsRemaining, Math.max(UPCOMING_SEGMENTS, horizon));
  return Array.from({ length: rows }, (_, k) =>
    known.map(({ segments, ...one }) =>
      sizes.sizeBits({
        ...one,
        index: segmentIndex + k,
        period,
        segmentSeconds,
        indexedBits: rangeBits(segments?.[inPeriod + k]?.mediaRange),
      }),
    ),
  );
}

function streamController({ schedule }: VideoView) {
  return schedule.getPlaybackController?.()?.getStreamController?.();
}
