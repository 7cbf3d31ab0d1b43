/** Reads out of dash.js what a decision depends on. Units and shapes of dash.js become those of the controller here. */

import type { AbrController, MediaInfo, Representation, RulesContext, ScheduleController, StreamInfo } from 'dashjs';
import type { PlayerState } from '../../abr/controller.ts';
import { qoeWeights } from '../../abr/qoe.ts';
import type { SegmentSizes } from '../segment-sizes.ts';
import type { Session } from '../session.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, rangeBits, valueAt } from './player.ts';

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

/** Throws where dash.js lacks what is needed. */
export function videoView(context: RulesContext): VideoView {
  const view = {
    abr: context.getAbrController(),
    schedule: context.getScheduleController(),
    mediaInfo: context.getMediaInfo(),
    streamInfo: context.getStreamInfo(),
    current: context.getRepresentation(),
  };
  for (const [name, part] of Object.entries(view)) if (!part) throw new Error(`the rule's context has no ${name}`);
  return view;
}

/** Representations that the page's limits allow, ascending in bitrate; at least one. */
export function allowedRepresentations(view: VideoView): Representation[] {
  const allowed = view.abr.getPossibleVoRepresentationsFilteredBySettings(view.mediaInfo, true) ?? [];
  if (allowed.length === 0) throw new Error('no representation is allowed');
  // dash.js sorts by quality, which need not be by bitrate.
  return [...allowed].sort((a, b) => a.bandwidth - b.bandwidth);
}

export interface StateSources {
  player: DashPlayer;
  session: Session;
  sizes: SegmentSizes;
  gauge: BufferGauge;
  clockMs: number;
  utc: { utcMs: number; uncertaintySeconds: number } | undefined;
  qoe: 'linear' | 'log';
  horizon: number;
  /** dash.js has cut its targets in this session because the source buffer was full. */
  quotaExceeded: boolean;
}

/** The state for a decision on the next segment, or on the one under way. */
export function playerState(
  view: VideoView,
  representations: readonly Representation[],
  about: 'next' | 'in flight',
  sources: StateSources,
): PlayerState {
  const { session, gauge } = sources;
  const { streamInfo } = view;
  const streamId = String(streamInfo.id);
  const segmentSeconds = segmentDuration(view.current);
  const segmentIndex =
    about === 'in flight' && session.last !== undefined ? session.last.index : nextIndex(view, segmentSeconds, sources);
  const first = firstIndex(streamInfo, view.current);
  const segmentsRemaining = remainingSegments(view, segmentIndex - first, segmentSeconds);
  const ladderBps = representations.map((representation) => representation.bandwidth);
  const isActive = streamController(view)?.getActiveStreamInfo?.()?.id === streamInfo.id;
  const bufferLevelSeconds = isActive ? gauge.levelSeconds(streamId) : gauge.playableSeconds();
  if (bufferLevelSeconds > 0) session.started = true;
  const previous = about === 'in flight' ? session.beforeLast : session.last;
  return {
    nowSeconds: session.seconds(sources.clockMs),
    utcMs: sources.utc?.utcMs,
    utcUncertaintySeconds: sources.utc?.uncertaintySeconds,
    started: session.started,
    bufferLevelSeconds,
    bufferCapSeconds: bufferCap(view, segmentSeconds, sources),
    segmentSeconds,
    segmentIndex,
    segmentsRemaining,
    ladderBps,
    upcomingSizesBits: upcomingSizes(
      view,
      representations,
      { first, segmentIndex, segmentsRemaining, segmentSeconds },
      sources,
    ),
    previousBitrateBps: previous?.bitrateBps,
    downloads: [...session.downloads],
    weights: qoeWeights(sources.qoe, ladderBps),
  };
}

function segmentDuration(representation: Representation): number {
  for (const seconds of [representation.segmentDuration, representation.fragmentDuration]) {
    if (seconds !== null && seconds > 0) return seconds;
  }
  throw new Error(`representation ${representation.id} has no segment duration`);
}

/** Index of a period's first segment in the presentation; 0 where there is no telling, in a live stream. */
export function firstIndex(streamInfo: StreamInfo, representation: Representation): number {
  return streamInfo.manifestInfo.isDynamic ? 0 : Math.round(streamInfo.start / segmentDuration(representation));
}

/** Index in the presentation of the segment that dash.js will ask for next. */
function nextIndex({ streamInfo, current }: VideoView, segmentSeconds: number, sources: StateSources): number {
  const { session, gauge } = sources;
  const { last } = session;
  if (last !== undefined && last.streamId === String(streamInfo.id)) return last.index + 1;
  // The first of a period, or after a jump: the one at the end of what is buffered.
  const intoPeriod = gauge.playheadSeconds() + gauge.playableSeconds() - streamInfo.start;
  const skipped = intoPeriod > 0 && last === undefined ? Math.floor(intoPeriod / segmentSeconds) : 0;
  return firstIndex(streamInfo, current) + skipped;
}

/** Segments left with the one at `index` of the period, over all periods; `Infinity` where the end is not known. */
function remainingSegments({ current, streamInfo }: VideoView, index: number, segmentSeconds: number): number {
  const manifest = streamInfo.manifestInfo;
  if (manifest.isDynamic || !Number.isFinite(streamInfo.duration)) return Number.POSITIVE_INFINITY;
  const signalled = current.mediaFinishedInformation?.numberOfSegments;
  const inPeriod = signalled > 0 ? signalled : Math.ceil(streamInfo.duration / segmentSeconds - 1e-6);
  const later = manifest.duration - streamInfo.start - streamInfo.duration;
  const inLaterPeriods = later > segmentSeconds / 2 ? Math.ceil(later / segmentSeconds - 1e-6) : 0;
  return Math.max(1, inPeriod - index) + inLaterPeriods;
}

/** What "buffer level + segment duration <" is compared with before a request is sent. */
function bufferCap(view: VideoView, segmentSeconds: number, { player, quotaExceeded }: StateSources): number {
  const settings = player.getSettings();
  const setting = (name: string) => Number(valueAt(settings, `streaming.buffer.${name}`));
  let target = view.schedule.getBufferTarget?.() ?? Number.NaN;
  if (!(target > 0)) target = setting('bufferTimeDefault');
  if (quotaExceeded) {
    // dash.js has cut the target of the top quality alone; the plan may well go there.
    const isLong = view.streamInfo.manifestInfo.duration >= setting('longFormContentDurationThreshold');
    const top = setting(isLong ? 'bufferTimeAtTopQualityLongForm' : 'bufferTimeAtTopQuality');
    if (top > 0) target = Math.min(target, top);
  }
  // For targets of up to a segment dash.js compares the buffer level alone.
  return target <= segmentSeconds ? target + segmentSeconds : target;
}

function upcomingSizes(
  view: VideoView,
  representations: readonly Representation[],
  about: { first: number; segmentIndex: number; segmentsRemaining: number; segmentSeconds: number },
  { sizes, horizon }: StateSources,
): number[][] {
  const { segmentSeconds } = about;
  const rows = Math.min(about.segmentsRemaining, Math.max(UPCOMING_SEGMENTS, horizon));
  // The ladder's objects have no index of segments; those of the stream processor have.
  const processor = streamController(view)
    ?.getStreamById?.(String(view.streamInfo.id))
    ?.getStreamProcessors?.()
    .find((candidate) => candidate.getType?.() === 'video');
  const controller = processor?.getRepresentationController?.();
  const indexed = representations.map(
    (representation): { mediaRange?: string }[] | undefined =>
      controller?.getRepresentationById?.(representation.id)?.segments,
  );
  return Array.from({ length: rows }, (_, k) =>
    representations.map((representation, i) =>
      sizes.sizeBits({
        representationId: representation.id,
        index: about.segmentIndex + k,
        period: { first: about.first, count: view.current.mediaFinishedInformation?.numberOfSegments },
        bitrateBps: representation.bandwidth,
        segmentSeconds,
        indexedBits: rangeBits(indexed[i]?.[about.segmentIndex - about.first + k]?.mediaRange),
      }),
    ),
  );
}

function streamController(view: VideoView) {
  return view.schedule.getPlaybackController?.()?.getStreamController?.();
}
