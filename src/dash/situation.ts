/** Reads the inputs of a decision from dash.js, in the flow's units and types. */

import type { Representation, RepresentationController, RulesContext, StreamInfo, StreamProcessor } from 'dashjs';
import { ladderOf, withBitrates } from '../../session/ladder.ts';
import { attempt } from '../../session/page/events.ts';
import type { Representation as Declared, Period, Situation } from '../../session/player-port.ts';
import { firstEndingAfter, type Span } from '../../session/state.ts';
import type { LiveSupport } from './live.ts';
import { type BufferGauge, type DashPlayer, rangeBits, segmentDuration, setting } from './player.ts';

/** Representations that the page's limits allow, at least one. */
export function allowedRepresentations(context: RulesContext): Representation[] {
  const allowed =
    context.getAbrController().getPossibleVoRepresentationsFilteredBySettings(context.getMediaInfo(), true) || [];
  if (allowed.length === 0) throw new Error('no representation is allowed');
  return allowed;
}

/** Bitrates of a period's representations, read or estimated once: dash.js works them out at every question. */
export class Bitrates {
  private _periodId: string | undefined;
  private _known = new Map<string, Declared>();
  /** The latest answer of `describe`. */
  private _described: Described | undefined;

  /** The allowed representations and their ladder; undefined if a bitrate can be neither read nor estimated. */
  describe(context: RulesContext, allowed: readonly Representation[]): Described | undefined {
    const { id: periodId } = context.getStreamInfo();
    const isKnown = ({ id }: Representation) => this._known.has(id);
    if (periodId !== this._periodId) {
      this._known.clear();
      this._described = undefined;
    }
    this._periodId = periodId;
    const before = this._described?.allowed;
    if (allowed.length === before?.length && allowed.every(({ id }, i) => id === before[i]!.id)) return this._described;
    if (!allowed.every(isKnown)) {
      const all = context.getAbrController().getPossibleVoRepresentations(context.getMediaInfo(), true);
      for (const one of withBitrates((all ?? allowed).map(declaredOf)) || []) this._known.set(one.id, one);
    }
    if (!allowed.every(isKnown)) return undefined;
    const described = allowed.map(({ id }) => this._known.get(id)!);
    this._described = { allowed: described, ladder: ladderOf(described) };
    return this._described;
  }

  /** Periods and representations of another source often have the same ids. */
  forget(): void {
    this._periodId = undefined;
  }

  of({ id, bandwidth, mediaInfo }: Representation): number {
    return (mediaInfo!.streamInfo!.id === this._periodId && this._known.get(id)?.bitrateBps) || bandwidth;
  }
}

function declaredOf(one: Representation): Declared {
  const { id, bandwidth, qualityRanking, width, height, frameRate, codecs } = one;
  return {
    id,
    bitrateBps: bandwidth,
    score: -qualityRanking || 0,
    width,
    height,
    frameRate,
    codec: codecs ?? undefined,
  };
}

/** Allowed representations, and the ladder of these. */
interface Described extends Pick<Situation, 'ladder'> {
  allowed: readonly Declared[];
}

/** Facts that are costly to read: dash.js computes them from the manifest each time, the browser from its layout. */
export interface Limits extends Described, Pick<Situation, 'displayedLines'> {
  bufferTargetSeconds: number;
}

/** `context`: of the latest call of the rule for video. */
export function readSituation(
  player: DashPlayer,
  context: RulesContext,
  { gauge, live, limits }: { gauge: BufferGauge; live: LiveSupport; limits: Limits },
): Situation {
  const { ladder, displayedLines, bufferTargetSeconds } = limits;
  const streamInfo = context.getStreamInfo();
  /** dash.js's current representation. */
  const current = context.getRepresentation();
  const period = periodOf(streamInfo, current);
  const schedule = context.getScheduleController();
  const playback = schedule.getPlaybackController?.();
  const isActive = attempt(() => streamsOf(context).getActiveStreamInfo()!.id) === streamInfo.id;
  const segmentSeconds = segmentDuration(current);
  // dash.js cuts only the targets of the top quality when the source buffer is full, but the plan may reach it.
  const most = gauge.isQuotaExceeded
    ? Number(setting(player, 'buffer.bufferTimeAtTopQuality'))
    : Number.POSITIVE_INFINITY;
  const target = Math.min(bufferTargetSeconds, most);
  // dash.js compares buffer level + segment duration with its target; for small targets and low latency, the level alone.
  const isLevelAlone = target <= segmentSeconds || attempt(() => playback!.getLowLatencyModeEnabled());
  const { playhead, playableSeconds, playbackRate, isPaused } = gauge.playback();
  const bufferLevelSeconds = (isActive ? gauge.levelSeconds(period.id, playhead) : undefined) ?? playableSeconds;
  let indexed: RepresentationController | undefined;
  let segments: IndexedSegments;
  let segmentsId: string | undefined;
  const segmentsOf = (id: string) => {
    // Only the stream processor's representations have a segment index; the ladder's have none.
    indexed ??= videoProcessor(context)?.getRepresentationController();
    if (id !== segmentsId) segments = indexed?.getRepresentationById(id)?.segments as IndexedSegments;
    segmentsId = id;
    return segments;
  };
  const { isDynamic } = streamInfo.manifestInfo;
  const isListed = !isDynamic && (timelineOf(current) || segmentsOf(current.id)?.length);
  return {
    period,
    ladder,
    displayedLines,
    playback: {
      segmentSeconds,
      bufferLevelSeconds,
      bufferCapSeconds: isLevelAlone ? target + segmentSeconds : target,
      playbackRate,
      isPaused,
    },
    bufferedUntilSeconds: isActive ? playhead + bufferLevelSeconds : undefined,
    playableUntilSeconds: playhead + playableSeconds,
    live: isDynamic ? live.position(streamInfo, current, playback) : undefined,
    indexedBits: (id, index) => rangeBits(segmentsOf(id)?.[index]?.mediaRange),
    ...(isListed && {
      segmentAt: (seconds, id = current.id) =>
        firstEndingAfter(seconds, timelineOf(current, id) || [], ([start, one]) => [
          start + period.startSeconds,
          one,
        ]) ?? firstEndingAfter(seconds, segmentsOf(id) || [], (one) => [one.presentationStartTime, one.duration]),
    }),
  };
}

/** Throws in players without it. */
function streamsOf(context: RulesContext) {
  return context.getScheduleController().getPlaybackController().getStreamController();
}

/** dash.js's processor of the period's video; undefined in players without it. */
export function videoProcessor(context: RulesContext): StreamProcessor | undefined {
  return attempt(() => {
    const processors = streamsOf(context).getStreamById(context.getStreamInfo().id)!.getStreamProcessors();
    return processors.find((processor) => processor.getType() === 'video');
  });
}

/** dash.js's segments of a representation with an index. */
type IndexedSegments = { mediaRange?: string; presentationStartTime: number; duration: number }[] | null | undefined;

/** An element of a manifest: dash.js keeps the attributes as they are, and passes templates on to representations. */
interface Template {
  timescale?: number;
  presentationTimeOffset?: number;
  SegmentTimeline?: { S: readonly { t?: number; d: number; r?: number }[] };
}

/** Two days of segments of 2 s; `r` may be any number. */
const MOST_SPANS = 86_400;
/** By template, because the list may be long and does not change. */
const timelines = new WeakMap<Template, Span[]>();

/**
 * The segments, by their start in the period; undefined without a `SegmentTimeline`. `id`: of another representation in
 * the same adaptation set.
 */
function timelineOf({ adaptation, index }: Representation, id?: string): readonly Span[] | undefined {
  const { period, index: set } = (adaptation || {}) as { index?: number; period?: ManifestPeriod };
  const all = period?.mpd?.manifest?.Period[period.index]?.AdaptationSet[set!]?.Representation;
  const template = (all?.find((one) => one.id === id) || all?.[index])?.SegmentTemplate;
  const elements = template?.SegmentTimeline?.S;
  if (!elements) return undefined;
  let spans = timelines.get(template);
  if (!spans) {
    const { timescale = 1, presentationTimeOffset = 0 } = template;
    // After an element that repeats until the next one begins (r < 0), the index of a segment is not known.
    const open = elements.findIndex(({ r = 0 }) => r < 0);
    const counted = open < 0 ? elements : elements.slice(0, open);
    let time = (elements[0]!.t || 0) - presentationTimeOffset;
    spans = [];
    for (const { d, r = 0 } of counted) {
      for (let i = 0; i <= r && spans.length < MOST_SPANS; i++, time += d)
        spans.push([time / timescale, d / timescale]);
    }
    timelines.set(template, spans);
  }
  return spans;
}

interface ManifestPeriod {
  index: number;
  mpd?: {
    manifest?: { Period: { AdaptationSet: { Representation: { id?: string; SegmentTemplate?: Template }[] }[] }[] };
  };
}

/** The period; all representations have the same number of segments. */
export function periodOf({ id, start, duration, manifestInfo }: StreamInfo, representation: Representation): Period {
  const segmentSeconds = segmentDuration(representation);
  const segmentsIn = (seconds: number) => Math.max(0, Math.ceil(seconds / segmentSeconds - 0.01));
  const hasEnd = !manifestInfo.isDynamic && Number.isFinite(duration);
  const { numberOfSegments } = representation.mediaFinishedInformation || {};
  return {
    id: String(id),
    startSeconds: start,
    firstIndex: manifestInfo.isDynamic ? 0 : Math.round(start / segmentSeconds),
    segmentCount: hasEnd ? numberOfSegments || segmentsIn(duration) : Number.POSITIVE_INFINITY,
    segmentsAfter: hasEnd ? segmentsIn(manifestInfo.duration - start - duration) : 0,
  };
}
