/** Sizes of future segments: from a file, from the stream's index, or learnt. */

import type { Segment, Situation } from './player-port.ts';
import { type Found, SegmentTable, SIZE_LISTS, type SizesFile } from './segment-lists.ts';
import type { UpcomingSegments, UpcomingSizes } from './state.ts';

/** A segment counts this much less with each later segment, so that a few segments show a change of scene. */
const FORGETTING = 0.8;
/** Older segments do not count. */
const RATIOS_KEPT = 16;
/** Weight of a segment of another representation: it shows the scene, but not how the asked bitrate was declared. */
const OTHERS_WEIGHT = 0.25;
/** Segments that the declared bitrate counts as, before anything is measured; half of it after `SURE_SECONDS` of media. */
const DECLARED_WEIGHT = 2;
const SURE_SECONDS = 60;
/**
 * An encoder of variable bitrate may leave a quiet scene at any time, and a live buffer has no room for what follows:
 * segments of a live stream are planned to be at least this share of their declared size, and this share of the largest
 * ratio so far, which halves after this many seconds of media.
 */
const LEAST_LIVE_SHARE = 0.8;
const PEAK_SHARE = 0.9;
const PEAK_HALF_LIFE_SECONDS = 300;
/** The file of a live stream is read again after this number of requests for video. */
const RELOADED_AFTER = 3;

/** A segment's declared bitrate and duration. */
type DeclaredSegment = Pick<Segment, 'representation' | 'segmentSeconds'>;

interface Ratio {
  id: string;
  /** Real size / declared size. */
  ratio: number;
}

/**
 * Gives the best known size: from the file, else the stream's index, else bitrate x duration x learnt ratio. The learnt
 * ratio is one standard deviation above the mean, and the declared bitrate always counts: a scene of almost no bits,
 * like a black opening, does not promise that the next one has as few.
 */
export class SegmentSizes {
  /** Reads the file, if any. */
  reload?: () => void;
  /** The file cannot be used: its sizes are left out. */
  onFault?: (cause: unknown) => void;
  private _liveRequests = 0;
  private _table: SegmentTable | undefined;
  /** The newest last. */
  private _learnt: Ratio[] = [];
  private _learntSeconds = 0;
  /** The largest ratio so far. It falls slowly, from the declared one at the start. */
  private _peakRatio = 1;
  /** The latest answer of `upcoming`, and the question; undefined once sizes have changed. */
  private _upcoming!: UpcomingSizes;
  private _upcomingOf: string | undefined;

  useFile(file: SizesFile): void {
    this._table = new SegmentTable(file, SIZE_LISTS);
    this._upcomingOf = undefined;
  }

  /** A segment of a live stream is requested. */
  countLiveRequest(): void {
    if (++this._liveRequests % RELOADED_AFTER === 0) this.reload?.();
  }

  /** Forgets the learnt ratios, for another stream. */
  forget(): void {
    this._learntSeconds = 0;
    this._peakRatio = 1;
    this._learn([]);
  }

  /** A downloaded segment has `sizeBits`. */
  learn({ representation: { id, bitrateBps }, segmentSeconds }: DeclaredSegment, sizeBits: number): void {
    const declaredBits = bitrateBps * segmentSeconds;
    if (!(sizeBits > 0 && declaredBits > 0)) return;
    const ratio = sizeBits / declaredBits;
    this._learntSeconds += segmentSeconds;
    this._peakRatio = Math.max(ratio, this._peakRatio * 0.5 ** (segmentSeconds / PEAK_HALF_LIFE_SECONDS));
    this._learn([...this._learnt, { id, ratio }].slice(-RATIOS_KEPT));
  }

  private _learn(ratios: Ratio[]): void {
    this._learnt = ratios;
    this._upcomingOf = undefined;
  }

  /** One standard deviation above the weighted mean, but at most the largest of the declared and the learnt. */
  private _ratio(id: string): number {
    const learnt = this._learnt;
    const declaredWeight = DECLARED_WEIGHT / (1 + this._learntSeconds / SURE_SECONDS);
    const weightOf = (i: number) => FORGETTING ** (learnt.length - 1 - i) * (learnt[i]!.id === id ? 1 : OTHERS_WEIGHT);
    let total = declaredWeight;
    let sum = declaredWeight;
    let largest = 1;
    for (let i = 0; i < learnt.length; i++) {
      const { ratio } = learnt[i]!;
      const weight = weightOf(i);
      total += weight;
      sum += ratio * weight;
      if (ratio > largest) largest = ratio;
    }
    const mean = sum / total;
    let squares = (1 - mean) ** 2 * declaredWeight;
    for (let i = 0; i < learnt.length; i++) squares += (learnt[i]!.ratio - mean) ** 2 * weightOf(i);
    return Math.min(mean + Math.sqrt(squares / total), largest);
  }

  /**
   * Sizes of the upcoming segments. The same question has the same answer until a size is learnt, because a download is
   * reconsidered often.
   */
  upcoming(situation: Situation, segments: UpcomingSegments): UpcomingSizes {
    const { period, ladder, playback, live } = situation;
    const { rows } = segments;
    const { index, startSeconds, seconds } = rows[0]!;
    const ids = ladder.map(({ id }) => id);
    const { segmentSeconds } = playback;
    const question = [period.id, index, live ? '' : startSeconds, seconds, rows.length, segmentSeconds, ...ids].join();
    if (question !== this._upcomingOf) {
      try {
        this._upcoming = this._sizes(situation, segments);
      } catch (error) {
        this._table = undefined;
        this.onFault?.(error);
        this._upcoming = this._sizes(situation, segments);
      }
      this._upcomingOf = question;
    }
    return this._upcoming;
  }

  private _sizes(situation: Situation, segments: UpcomingSegments): UpcomingSizes {
    const { ladder, live, indexedBits } = situation;
    const { rows } = segments;
    const ratios = ladder.map(({ id }) => this._ratio(id));
    let areEven = true;
    const nextSeconds: number[] = [];
    const sizesBits = rows.map((row, k) =>
      ladder.map(({ id, bitrateBps }, r) => {
        const found: Found = this._table
          ? this._table.upcoming(situation, segments, id, k)
          : { ...segments.of(id, k), value: undefined };
        const { index = row.index, startSeconds = row.startSeconds, seconds = row.seconds, value } = found;
        const bits =
          value === undefined
            ? (plausible(indexedBits(id, index)) ??
              bitrateBps * seconds * this._boundedRatio(ratios[r]!, live !== undefined))
            : value * 8;
        const isEven = segments.isEven({ startSeconds, seconds }, k);
        if (k === 0) {
          nextSeconds.push(startSeconds + seconds - row.startSeconds);
          areEven &&= isEven;
          return bits;
        }
        return isEven ? bits : (bits * row.seconds) / seconds;
      }),
    );
    return { sizesBits, nextSeconds: areEven ? undefined : nextSeconds };
  }

  /** Size in bits; > 0. */
  sizeBits(segment: Segment, isLive: boolean): number {
    const { representation, index, period, segmentSeconds, endSeconds, indexedBits } = segment;
    const { id, bitrateBps } = representation;
    const seconds = isLive ? undefined : endSeconds - segmentSeconds / 2;
    const { value } = this._table?.find(id, period, index, seconds) || {};
    if (value !== undefined) return value * 8;
    return plausible(indexedBits) ?? bitrateBps * segmentSeconds * this._boundedRatio(this._ratio(id), isLive);
  }

  private _boundedRatio(ratio: number, isLive: boolean): number {
    return isLive ? Math.max(LEAST_LIVE_SHARE, PEAK_SHARE * this._peakRatio, ratio) : ratio;
  }
}

/** A playlist may list any number. */
const plausible = (bits: number | undefined) => (bits! > 0 && bits! < 1e13 ? bits : undefined);
