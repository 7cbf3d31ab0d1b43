/** The input of a controller: the player's situation and the session's history in one `PlayerState`. */

import type { AssumedLink, InFlight, PlayerState } from '../abr/controller.ts';
import type { ValidForecast } from '../abr/forecast.ts';
import { perceivedWeights } from '../abr/qoe/perceived-qoe.ts';
import { bitrateWeights, type Objective, type QoeWeights } from '../abr/qoe/qoe.ts';
import { modelledQuality, usualDisplayedLines } from '../abr/qoe/quality.ts';
import { horizonOf, LARGEST_HORIZON } from '../abr/state/facts.ts';
import { isAudio, ladderQualities } from './ladder.ts';
import type { ListedSegment, Representation, Segment, Situation } from './player-port.ts';
import type { Session } from './session.ts';

/** A segment that ends this soon after the one before is not requested (hls.js's `maxFragLookUpTolerance`). */
const TOLERANCE_SECONDS = 0.25;
const ROUNDING_SECONDS = 0.01;
/** More than a day: the stream's index is broken, and the player decides. */
const LONGEST_SEGMENT_SECONDS = 1e5;

/** Catch-up at the live edge changes the rate by less all the time; a viewer's choice changes it by more. */
const SAME_RATE = 0.1;
/** The buffer falls by a segment while a live stream's next one does not exist. */
const SAME_BUFFER_SEGMENTS = 1.5;

/** The controller's input. */
export interface Input {
  readonly state: PlayerState;
  readonly forecast: ValidForecast | undefined;
}

/** The input on which a download was reconsidered. */
export interface Moment {
  situation: Situation;
  inFlight: InFlight;
  input: Input;
}

/** The clocks at a decision. */
export type Clocks = Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;

interface StateOptions {
  horizon?: number | undefined;
  usesQuality: boolean;
  weightsOf(situation: Situation): QoeWeights;
}

export interface UpcomingSizes {
  /** `[segment][representation]`, in bits. */
  sizesBits: readonly (readonly number[])[];
  /** See `PlayerState`; undefined if all representations have the same boundaries. */
  nextSeconds: readonly number[] | undefined;
}

interface StateParts {
  situation: Situation;
  /** The download to reconsider; undefined for a decision on the next segment. */
  inFlight: InFlight | undefined;
  session: Session;
  clocks: Clocks;
  assumed: AssumedLink | undefined;
  sizes: { upcoming(situation: Situation, segments: UpcomingSegments): UpcomingSizes };
  /** Undefined without measured qualities. */
  qualities:
    | { upcoming(situation: Situation, segments: UpcomingSegments): PlayerState['upcomingQualities'] }
    | undefined;
  options: StateOptions;
}

/** Returns a copy that is not changed later. */
export function playerState({
  situation,
  inFlight,
  session,
  clocks,
  assumed,
  sizes,
  qualities,
  options,
}: StateParts): PlayerState {
  const { started, last, beforeLastBps, active } = session;
  const { period, ladder, playback } = situation;
  const loading = inFlight && active!.segment;
  const next: NextSegment = loading
    ? { index: loading.index, startSeconds: loading.endSeconds - loading.segmentSeconds, id: loading.representation.id }
    : nextSegment(situation, last);
  const segments = new UpcomingSegments(situation, next, Math.max(LARGEST_HORIZON, horizonOf(playback, options)));
  const live = situation.live && session.live.state(situation, startOf(situation, next, loading), clocks.nowSeconds);
  const upcomingQualities = options.usesQuality && qualities ? qualities.upcoming(situation, segments) : undefined;
  const weights = options.weightsOf(situation);
  // Before a size is learnt, an estimated bitrate says little about what its bits cost.
  const isGuess = session.downloads.length === 0 && ladder.some(({ isEstimated }) => isEstimated);
  const { sizesBits, nextSeconds } = sizes.upcoming(situation, segments);
  return {
    ...clocks,
    ...playback,
    started,
    // Before the first picture, a paused element waits for data.
    isPaused: started && playback.isPaused,
    segmentIndex: period.firstIndex + segments.rows[0]!.index,
    segmentsRemaining: segments.remaining,
    ladderBps: ladder.map(({ bitrateBps }) => bitrateBps),
    upcomingSizesBits: sizesBits,
    ...(situation.segmentAt && { upcomingSeconds: segments.rows.map(({ seconds }) => seconds) }),
    ...(nextSeconds && { nextSeconds }),
    ...(upcomingQualities && { upcomingQualities }),
    previousBitrateBps: inFlight ? beforeLastBps : last?.representation.bitrateBps,
    downloads: session.downloads,
    ...(assumed && { assumed }),
    weights: isGuess ? { ...weights, pricePerMbps: 0 } : weights,
    ...(live && { live }),
  };
}

/**
 * Position in the presentation where the segment in flight, or the next one, starts. The request or the segment before
 * tells it. An index times the present duration is a last resort: durations vary, so after hours it is far off.
 */
function startOf(
  { period, playback: { segmentSeconds } }: Situation,
  { index, startSeconds, isAfterSeek }: NextSegment,
  inFlight: Segment | undefined,
): number {
  const byIndex = period.startSeconds + index * segmentSeconds;
  // A part of a segment may have a request of its own.
  const isShort = inFlight && inFlight.segmentSeconds < segmentSeconds / 2;
  const isPart = isShort && Math.abs(startSeconds - byIndex) < segmentSeconds;
  return isAfterSeek || isPart ? byIndex : startSeconds;
}

/** The segment that the player will request next. */
function nextSegment(situation: Situation, last: Segment | undefined): NextSegment {
  const { period, playback, bufferedUntilSeconds, playableUntilSeconds } = situation;
  const { segmentSeconds } = playback;
  const isInPeriod = last?.period.id === period.id;
  // A track switch has discarded buffered media.
  const isReplaced = isInPeriod && bufferedUntilSeconds! < last.endSeconds - 1.5 * segmentSeconds;
  const id = last?.representation.id;
  if (isInPeriod && !isReplaced) return { index: last.index + 1, startSeconds: last.endSeconds, id };
  // After a seek or a track switch, the segment at the end of the buffer; else the first of the period.
  const skippedSeconds = last && !isReplaced ? 0 : playableUntilSeconds - period.startSeconds;
  const index = Math.max(0, Math.floor(skippedSeconds / segmentSeconds));
  const startSeconds = period.startSeconds + skippedSeconds;
  return { index, startSeconds, isAfterSeek: true, id: isInPeriod ? id : undefined };
}

/** Whether nothing has changed that a choice depends on, but time and what follows from it. */
export function isSame(before: Situation, now: Situation): boolean {
  const { playback, ladder } = now;
  const isNear = (key: 'bufferLevelSeconds' | 'bufferCapSeconds') =>
    Math.abs(before.playback[key] - playback[key]) < SAME_BUFFER_SEGMENTS * playback.segmentSeconds;
  return (
    before.period.id === now.period.id &&
    before.playback.isPaused === playback.isPaused &&
    Math.abs(before.playback.playbackRate - playback.playbackRate) < SAME_RATE &&
    isNear('bufferLevelSeconds') &&
    isNear('bufferCapSeconds') &&
    before.ladder.length === ladder.length &&
    ladder.every(({ id }, i) => id === before.ladder[i]!.id)
  );
}

/** The segment to decide on. */
interface NextSegment {
  /** Counted from the start of the period, without the stream's own index. */
  index: number;
  /** Position in the presentation: the end of the segment before, or where the viewer went. */
  startSeconds: number;
  isAfterSeek?: boolean;
  /** The representation whose segments the plan counts; undefined for the one that loads. */
  id: string | undefined;
}

/** The upcoming segments of each representation. Their boundaries may differ between representations. */
export class UpcomingSegments {
  /** Segments of one representation: the plan's. */
  readonly rows: readonly ListedSegment[];
  /** Segments to the end of the presentation. */
  readonly remaining: number;
  private readonly _firstSeconds: number;

  /** `most`: rows. */
  constructor(
    private readonly _situation: Pick<Situation, 'segmentAt' | 'playback' | 'period'>,
    { index, startSeconds, isAfterSeek, id }: NextSegment,
    most: number,
  ) {
    const { segmentAt, playback, period } = _situation;
    const rows: ListedSegment[] = [];
    let nextIndex = index;
    let start = startSeconds;
    let position = start + (isAfterSeek ? ROUNDING_SECONDS : TOLERANCE_SECONDS);
    this._firstSeconds = position;
    let remaining = 1;
    do {
      const nominal = { index: nextIndex, startSeconds: start, seconds: playback.segmentSeconds };
      const row = segmentAt?.(position, id) || nominal;
      const wrong = [nominal, row].find(({ seconds }) => !(seconds >= 0 && seconds < LONGEST_SEGMENT_SECONDS));
      if (wrong) throw new Error(`a segment of ${wrong.seconds} s`);
      nextIndex = row.index + 1;
      if (rows.push(row) === 1) remaining = Math.max(1, period.segmentCount - row.index) + period.segmentsAfter;
      start = row.startSeconds + row.seconds;
      position = start + TOLERANCE_SECONDS;
    } while (rows.length < Math.min(most, remaining));
    this.rows = rows;
    this.remaining = remaining;
  }

  /** The representation's segment in the k-th row; undefined where the stream does not list it. */
  of(id: string, k: number): ListedSegment | undefined {
    const { segmentAt } = this._situation;
    return segmentAt?.(this.positionOf(k), id);
  }

  /** Whether the stream lists the representation's segments. */
  isListed(id: string): boolean {
    const { segmentAt, period } = this._situation;
    return segmentAt?.(period.startSeconds + TOLERANCE_SECONDS, id) !== undefined;
  }

  /** A position in the representation's segment that is requested next, or in the middle of a later row. */
  positionOf(k: number): number {
    const { startSeconds, seconds } = this.rows[k]!;
    return k > 0 ? startSeconds + seconds / 2 : this._firstSeconds;
  }

  /** Whether another representation's segment has the boundaries of the k-th row. */
  isEven({ startSeconds, seconds }: Pick<ListedSegment, 'startSeconds' | 'seconds'>, k: number): boolean {
    const row = this.rows[k]!;
    return (
      Math.abs(startSeconds - row.startSeconds) < TOLERANCE_SECONDS &&
      Math.abs(seconds - row.seconds) < TOLERANCE_SECONDS
    );
  }
}

export type Span = readonly [startSeconds: number, seconds: number];

/** The first of these segments, ascending in time, that ends after a time; undefined after the last. */
export function firstEndingAfter<T>(
  seconds: number,
  segments: readonly T[],
  spanOf: (segment: T) => Span,
): ListedSegment | undefined {
  let low = 0;
  let high = segments.length;
  let found: ListedSegment | undefined;
  while (low < high) {
    const index = (low + high) >> 1;
    const [startSeconds, duration] = spanOf(segments[index]!);
    if (startSeconds + duration > seconds) {
      high = index;
      found = { index, startSeconds, seconds: duration };
    } else low = index + 1;
  }
  return found;
}

/* The qualities of the representations, and the prices, that a controller plans on. */

export type Pictures = Pick<Situation, 'ladder' | 'displayedLines' | 'live'>;

/** Returns `objectiveWeights` as a function that computes only when the pictures have changed. */
export function weightsOfPictures(objective: Objective, pricePerMbps: number): (pictures: Pictures) => QoeWeights {
  let known: Pictures | undefined;
  let weights: QoeWeights;
  return ({ ladder, displayedLines, live }) => {
    if (
      !known ||
      displayedLines !== known.displayedLines ||
      !live !== !known.live ||
      !isSameLadder(ladder, known.ladder)
    ) {
      known = { ladder, displayedLines, live };
      weights = objectiveWeights(objective, known, pricePerMbps);
    }
    return weights;
  };
}

const isSameLadder = (a: readonly Representation[], b: readonly Representation[]) =>
  a === b || (a.length === b.length && a.every((one, r) => PICTURE.every((field) => one[field] === b[r]![field])));
const PICTURE = ['bitrateBps', 'width', 'height', 'frameRate', 'codec', 'score'] as const;

/** `pricePerMbps`: points of quality that each further Mbit/s must add; `perceived` alone has it. */
export function objectiveWeights(objective: Objective, pictures: Pictures, pricePerMbps = 0): QoeWeights {
  const { ladder, live } = pictures;
  if (objective !== 'perceived' || isAudio(ladder)) {
    return bitrateWeights(
      objective === 'log' ? 'log' : 'linear',
      ladder.map(({ bitrateBps }) => bitrateBps),
    );
  }
  const { displayedLines = usualDisplayedLines(ladder) } = pictures;
  const qualities = ladderQualities(ladder, displayedLines);
  const byBitrate = new Map(ladder.map(({ bitrateBps }, r) => [bitrateBps, qualities[r]!]));
  const qualityOf = (bitrateBps: number) =>
    byBitrate.get(bitrateBps) ?? modelledQuality({ bitrateBps, displayedLines });
  return perceivedWeights(qualityOf, { pricePerMbps, isLive: live !== undefined });
}
