/** The source that plays: reads the inputs of a decision, in the flow's types. Shaka counts in seconds and bytes. */

import type { ListedSegment, LivePosition, Period, Segment, Situation } from '../../session/player-port.ts';
import type { VideoRequest } from '../../session/request.ts';
import { displayedLines, isPaused, UndoList } from '../adapter-kit.ts';
import { LiveStream } from './live.ts';
import type {
  AbrManager,
  AbrSettings,
  SegmentReference,
  ShakaPlayer,
  ShakaStream,
  SwitchCallback,
  Variant,
} from './player.ts';
import { Variants } from './variants.ts';

/** Shaka asks itself twice a second whether to request: a choice this long before is still of the same moment. */
const AHEAD_SECONDS = 0.5;
/** Shaka jumps gaps of this length. */
const GAP_SECONDS = 0.2;
const ROUNDING_SECONDS = 0.01;
/** The element says four times a second where it is. */
const STEP_SECONDS = 1;
/** A usual segment, before the player has loaded a playlist. */
const UNKNOWN_SEGMENT_SECONDS = 4;

/** The manager that Shaka asks. */
export interface AskedManager {
  /** Shaka's own manager. */
  readonly inner: Pick<AbrManager, 'chooseVariant' | 'getBandwidthEstimate'>;
  /** As Shaka has configured it. */
  readonly settings: AbrSettings | undefined;
  /** The player prefers fast switching. */
  readonly isFast: boolean;
  /** Shaka's callback for switches. */
  readonly give: SwitchCallback;
}

/**
 * What Shaka shows of the source that it plays, and all that the plugin remembers of it. It is made when the source before
 * ends, because Shaka reads playlists before it asks a manager.
 */
export class Source {
  /** It plays the source, or has chosen the first variant for a preload. */
  manager: AskedManager | undefined;
  readonly variants = new Variants();
  readonly live: LiveStream;
  element: HTMLMediaElement | undefined;
  /** The last variant that Shaka was given; the page may select another variant. */
  given: Variant | undefined;
  /** The page has selected a variant with this video: a segment of it is loaded before the next decision. */
  selected: { video: ShakaStream | null; isRequested: boolean } | undefined;
  /** The buffer is full: the decision waits until Shaka is about to request. */
  isDue = false;
  /** Shaka gives up this download, if it asks. */
  abandoned: VideoRequest | undefined;
  /** Shaka clears its buffer, and has requested nothing since. Another switch could stop it for ever. */
  isClearing = false;
  /** When Shaka was given another variant, by `performance.now()`. */
  switchedAtMs = Number.NEGATIVE_INFINITY;
  /** When a request failed. */
  failedAtMs = Number.NEGATIVE_INFINITY;
  /** The highest bitrate allowed at the latest decision; 0 before. */
  topBps = 0;
  /** During a decision: variants above are not chosen, and media buffered farther ahead count as gone. */
  mostBps = Number.POSITIVE_INFINITY;
  keptSeconds = Number.POSITIVE_INFINITY;
  /** Removes the listeners from the element. */
  readonly undo = new UndoList();
  /** Where the playhead was seen last. */
  private _notedSeconds = Number.NaN;

  constructor(private readonly _player: ShakaPlayer) {
    this.live = new LiveStream(_player);
  }

  /** The variant that plays or loads. */
  active(): Variant | undefined {
    const id = this._player.getVariantTracks().find((track) => track.active)?.id;
    return this.variants.all.find((variant) => variant.id === id);
  }

  /** If the page has selected a variant, a segment of it is due, and no decision. */
  heedPage(): void {
    const active = this.active();
    if (active && this.given && active !== this.given) {
      this.selected = { video: active.video, isRequested: false };
      this.isDue = false;
    }
    this.given = active ?? this.given;
  }

  levelSeconds(kind: 'video' | 'total' = 'video'): number {
    const now = this._playhead;
    const reachable = this._player.getBufferedInfo()[kind].filter(({ start }) => start <= now + GAP_SECONDS);
    return Math.min(this.keptSeconds, Math.max(0, ...reachable.map(({ end }) => end - now)));
  }

  notePlayhead(): void {
    this._notedSeconds = this._playhead;
  }

  /** The playhead is about where it was noted. */
  get isUnmoved(): boolean {
    return Math.abs(this._playhead - this._notedSeconds) < STEP_SECONDS;
  }

  /** Shaka does not request yet. */
  isFull(): boolean {
    return this.levelSeconds() >= this._goalSeconds() + AHEAD_SECONDS;
  }

  /** Nothing comes after this time; by default, after what is buffered. */
  isEnd(seconds = this._playhead + this.levelSeconds()): boolean {
    const { end } = this._player.seekRange();
    return !this.live.isLive && end > 0 && seconds >= end - GAP_SECONDS;
  }

  /** More parts of the same segment follow, where Shaka requests parts one by one. */
  isWithinSegment(seconds: number): boolean {
    const index = this.active()?.video?.segmentIndex;
    const position: number | null | undefined = index?.find(seconds - ROUNDING_SECONDS);
    const segment: SegmentReference | null = position == null ? null : index!.get(position);
    const partSeconds = segment ? this.live.partSeconds(segment) : 0;
    if (partSeconds === 0) return false;
    // The newest segment ends with the parts so far.
    const isComplete = index!.get(position! + 1) !== null;
    const endSeconds = isComplete ? segment!.getEndTime() : segment!.getStartTime() + this.live.longestSeconds;
    return seconds < endSeconds - partSeconds / 2;
  }

  /** `allowed`: the variants to choose from. */
  situation(allowed: readonly Variant[], live: LivePosition | undefined): Situation {
    const { element } = this;
    const segmentSeconds = this.segmentSeconds();
    const bufferLevelSeconds = this.levelSeconds();
    const ladder = this.variants.ladder(allowed);
    const streams = new Map(ladder.map(({ id, video }) => [id, video]));
    return {
      period: this._period(segmentSeconds),
      ladder,
      displayedLines: displayedLines(element),
      playback: {
        segmentSeconds,
        bufferLevelSeconds,
        bufferCapSeconds: this._goalSeconds() + segmentSeconds,
        playbackRate: this.playbackRate,
        isPaused: isPaused(element),
      },
      bufferedUntilSeconds: this._playhead + bufferLevelSeconds,
      playableUntilSeconds: this._playhead + this.levelSeconds('total'),
      live,
      indexedBits: (id, index) => (live ? undefined : rangeBits(streams.get(id)?.segmentIndex?.get(index))),
      ...(!live && {
        segmentAt: (seconds, id) => listedAt(id ? streams.get(id)?.segmentIndex : this._index(), seconds),
      }),
    };
  }

  /** The video whose segment this is. After a switch while it loads an initialization segment, Shaka names the new video. */
  videoOf(named: ShakaStream, reference: SegmentReference): ShakaStream {
    const holds = (video: ShakaStream | null) => {
      const position: number | null | undefined = video?.segmentIndex?.find(reference.getStartTime());
      return position != null && video!.segmentIndex!.get(position) === reference;
    };
    return [named, ...this.variants.all.map(({ video }) => video)].find(holds) || named;
  }

  segment(stream: ShakaStream, reference: SegmentReference): Segment {
    const startSeconds = reference.getStartTime();
    const segmentSeconds = this.live.wholeSeconds(reference);
    const endSeconds = startSeconds + segmentSeconds;
    const nominalSeconds = this.segmentSeconds();
    // The nominal duration changes with the segment that plays, so it gives no lasting index.
    const longestSeconds = this.live.longestSeconds || nominalSeconds;
    const listed: number | null | undefined = this.live.isLive ? null : stream.segmentIndex?.find(startSeconds);
    return {
      period: this._period(nominalSeconds),
      representation: this.variants.rungOf(stream),
      // The middle of a segment or of one of its parts; boundaries may lie beside the nominal ones.
      index: listed ?? Math.floor((startSeconds + Math.min(segmentSeconds, longestSeconds) / 2) / longestSeconds),
      segmentSeconds,
      endSeconds,
      // Parts so far are no segment.
      indexedBits: endSeconds > reference.getEndTime() ? undefined : rangeBits(reference),
    };
  }

  /** The segment buffered last, as far as it is known without its request. */
  latest(): Segment | undefined {
    const video = (this.active() || this.given || this.variants.all[0])?.video;
    if (!video) return undefined;
    const segmentSeconds = this.segmentSeconds();
    const endSeconds = this._playhead + this.levelSeconds();
    const index = Math.max(0, Math.round(endSeconds / segmentSeconds) - 1);
    return {
      period: this._period(segmentSeconds),
      representation: this.variants.rungOf(video),
      index,
      segmentSeconds,
      endSeconds,
      indexedBits: undefined,
    };
  }

  /** In a stall, Shaka sets the element's rate to 0. While the plugin waits, the default rate is 0, too. */
  get playbackRate(): number {
    const { playbackRate, defaultPlaybackRate = 1 }: Partial<HTMLMediaElement> = this.element || {};
    return Math.abs(playbackRate || (defaultPlaybackRate && this._player.getPlaybackRate())) || 1;
  }

  private get _playhead(): number {
    return this.element ? this.element.currentTime : 0;
  }

  private _goalSeconds(): number {
    const { bufferingGoal, rebufferingGoal } = this._player.getConfiguration().streaming;
    return Math.max(bufferingGoal, rebufferingGoal);
  }

  /** Nominal duration of a segment, in seconds. */
  segmentSeconds(): number {
    const index = this._index();
    const position: number | null | undefined = index?.find(this._playhead);
    const segment = position == null ? null : index!.get(position);
    return secondsOf(segment) || this._player.getStats().maxSegmentDuration || UNKNOWN_SEGMENT_SECONDS;
  }

  private _index() {
    const indexed = this.variants.all.find(({ video }) => video?.segmentIndex);
    return this.active()?.video?.segmentIndex || indexed?.video?.segmentIndex;
  }

  /** Shaka joins the periods of a stream. */
  private _period(seconds: number): Period {
    const { end } = this._player.seekRange();
    // Before a source is loaded, its end is unknown.
    const isOpen = this.live.isLive || !(end > 0);
    // Durations may vary. The audio may end a little later than the video.
    const last: number | null | undefined = this._index()?.find(end - 1);
    const counted = last == null ? Math.ceil(end / seconds - 0.01) : last + 1;
    const segmentCount = isOpen ? Number.POSITIVE_INFINITY : counted;
    return { id: '0', startSeconds: 0, firstIndex: 0, segmentCount, segmentsAfter: 0 };
  }
}

function listedAt(index: ShakaStream['segmentIndex'] | undefined, seconds: number): ListedSegment | undefined {
  const position: number | null | undefined = index?.find(seconds);
  const reference = position == null ? null : index!.get(position);
  return reference
    ? { index: position!, startSeconds: reference.getStartTime(), seconds: secondsOf(reference)! }
    : undefined;
}

/** Bits from the first to the last byte; undefined where the manifest does not say. */
function rangeBits(segment: SegmentReference | null | undefined): number | undefined {
  const end = segment?.getEndByte();
  return end == null ? undefined : 8 * (end - segment!.getStartByte() + 1);
}

const secondsOf = (reference: SegmentReference | null | undefined) =>
  reference ? reference.getEndTime() - reference.getStartTime() : undefined;
