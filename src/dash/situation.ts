/** Reads the inputs of a decision from dash.js, in the core's units and types. */

import type { Representation, RulesContext, StreamInfo } from 'dashjs';
import { bufferCapSeconds } from '../core/buffer-cap.ts';
import type { LivePosition, Period, Situation } from '../core/player-port.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import type { CatchUp } from './catch-up.ts';
import { firstChunkSeconds, type LiveClock } from './live-clock.ts';
import { type DashPlayer, rangeBits, setting } from './player.ts';

/** The plugin sets no rate. */
const UNPACED = {
  playbackRates: { min: 1, max: 1 },
  maxLatencySeconds: Number.POSITIVE_INFINITY,
  isPaceable: false,
};

/** Representations that the page's limits allow, ascending in bitrate (dash.js sorts by quality); at least one. */
export function allowedRepresentations(context: RulesContext): Representation[] {
  const allowed =
    context.getAbrController().getPossibleVoRepresentationsFilteredBySettings(context.getMediaInfo(), true) ?? [];
  if (allowed.length === 0) throw new Error('no representation is allowed');
  return [...allowed].sort((a, b) => a.bandwidth - b.bandwidth);
}

/** `context`: of the latest call of the rule for video. */
export function readSituation(
  player: DashPlayer,
  context: RulesContext,
  { gauge, clock, catchUp }: { gauge: BufferGauge; clock: LiveClock; catchUp: CatchUp | undefined },
): Situation {
  const streamInfo = context.getStreamInfo();
  /** dash.js's current representation. */
  const current = context.getRepresentation();
  const period = periodOf(streamInfo, current);
  const segmentSeconds = segmentDuration(current);
  const schedule = context.getScheduleController();
  const playback = schedule.getPlaybackController?.();
  const streams = playback?.getStreamController?.();
  const isActive = streams?.getActiveStreamInfo()?.id === streamInfo.id;
  let target = schedule.getBufferTarget();
  if (gauge.isQuotaExceeded) {
    // dash.js cuts only the targets of the top quality, but the plan may reach it.
    target = Math.min(target, Number(setting(player, 'buffer.bufferTimeAtTopQuality')));
  }
  // dash.js compares buffer level + segment duration with its target; for targets up to a segment and low latency, the
  // level alone.
  const isLevelAlone = target <= segmentSeconds || playback?.getLowLatencyModeEnabled?.();
  const targetCapSeconds = isLevelAlone ? target + segmentSeconds : target;
  const live = livePosition(
    streamInfo,
    current,
    clock,
    playback?.getLiveDelay?.(),
    catchUp?.limits(streamInfo, playback),
  );
  const playableSeconds = gauge.playableSeconds();
  const bufferLevelSeconds = isActive ? gauge.levelSeconds(period.id) : playableSeconds;
  const playhead = gauge.playheadSeconds();
  // The ladder's representations have no segment index; those of the stream processor have one.
  const indexed = streams
    ?.getStreamById(period.id)
    ?.getStreamProcessors()
    .find((processor) => processor.getType() === 'video')
    ?.getRepresentationController();
  return {
    period,
    ladder: allowedRepresentations(context).map(({ id, bandwidth }) => ({ id, bitrateBps: bandwidth })),
    playback: {
      segmentSeconds,
      bufferLevelSeconds,
      bufferCapSeconds: bufferCapSeconds(targetCapSeconds, segmentSeconds, live),
      ...gauge.playback(),
    },
    bufferedUntilSeconds: isActive ? playhead + bufferLevelSeconds : undefined,
    playableUntilSeconds: playhead + playableSeconds,
    live,
    indexedBits(id, index) {
      const segments = indexed?.getRepresentationById(id)?.segments as { mediaRange?: string }[] | null | undefined;
      return rangeBits(segments?.[index]?.mediaRange);
    },
  };
}

function livePosition(
  stream: StreamInfo,
  representation: Representation,
  clock: LiveClock,
  targetLatencySeconds = 0,
  limits: ReturnType<CatchUp['limits']> = UNPACED,
): LivePosition | undefined {
  const nowSeconds = clock.nowSeconds(stream);
  return nowSeconds === undefined
    ? undefined
    : {
        latencySeconds: clock.latencySeconds() ?? targetLatencySeconds,
        targetLatencySeconds,
        nowSeconds,
        firstChunkSeconds: firstChunkSeconds(representation),
        ...limits,
      };
}

/** The period; all representations have the same number of segments. */
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

/** Nominal, in seconds. */
export function segmentDuration({ id, segmentDuration, fragmentDuration }: Representation): number {
  const seconds = segmentDuration || fragmentDuration;
  if (!seconds) throw new Error(`representation ${id} has no segment duration`);
  return seconds;
}
