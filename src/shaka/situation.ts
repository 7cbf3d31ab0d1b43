/** Reads the inputs of a decision from Shaka Player, in the core's types. Shaka counts in seconds and bytes. */

import type { LivePosition, Period, SegmentRequest, Situation } from '../../session/player-port.ts';
import type { LiveStream } from './live.ts';
import type { SegmentReference, ShakaPlayer, Stream, Variant } from './player.ts';

/** Shaka asks itself twice a second whether to request: a choice this long before is still of the same moment. */
const AHEAD_SECONDS = 0.5;
/** Shaka jumps gaps of this length. */
const GAP_SECONDS = 0.2;

export const idOf = ({ originalId, id }: Stream) => originalId ?? String(id);
export const bitrateOf = ({ video, bandwidth }: Variant) => video?.bandwidth || bandwidth;

/** What plays. */
export class Presentation {
  /** Of the present source. */
  variants: readonly Variant[] = [];
  element: HTMLMediaElement | undefined;

  constructor(
    private readonly player: ShakaPlayer,
    private readonly live: LiveStream,
  ) {}

  get hasVideo(): boolean {
    return this.variants.some(({ video }) => video);
  }

  /** The variant that plays or loads. */
  active(): Variant | undefined {
    const id = this.player.getVariantTracks().find((track) => track.active)?.id;
    return this.variants.find((variant) => variant.id === id);
  }

  levelSeconds(kind: 'video' | 'total' = 'video'): number {
    const now = this.#playhead;
    const reachable = this.player.getBufferedInfo()[kind].filter(({ start }) => start <= now + GAP_SECONDS);
    return Math.max(0, ...reachable.map(({ end }) => end - now));
  }

  /** Shaka does not request yet. */
  isFull(): boolean {
    return this.levelSeconds() >= this.#goalSeconds() + AHEAD_SECONDS;
  }

  /** Nothing comes after this time. */
  isEnd(seconds: number): boolean {
    return !this.live.isLive && seconds >= this.player.seekRange().end - GAP_SECONDS;
  }

  /** `allowed`: the variants to choose from. */
  situation(allowed: readonly Variant[], live: LivePosition | undefined): Situation {
    const { player, element } = this;
    const segmentSeconds = this.#segmentSeconds();
    const bufferLevelSeconds = this.levelSeconds();
    const streams = new Map(allowed.map(({ video }) => [idOf(video!), video!]));
    return {
      period: this.#period(segmentSeconds),
      ladder: allowed.map((variant) => ({ id: idOf(variant.video!), bitrateBps: bitrateOf(variant) })),
      playback: {
        segmentSeconds,
        bufferLevelSeconds,
        bufferCapSeconds: this.#goalSeconds() + segmentSeconds,
        playbackRate: Math.abs(element?.playbackRate || player.getPlaybackRate()) || 1,
        isPaused: element?.paused ?? false,
      },
      bufferedUntilSeconds: this.#playhead + bufferLevelSeconds,
      playableUntilSeconds: this.#playhead + this.levelSeconds('total'),
      live,
      indexedBits: (id, index) => (live ? undefined : rangeBits(streams.get(id)?.segmentIndex?.get(index))),
    };
  }

  segment(stream: Stream, reference: SegmentReference): SegmentRequest {
    const startSeconds = reference.getStartTime();
    const endSeconds = reference.getEndTime();
    const nominalSeconds = this.#segmentSeconds();
    const declared = stream.bandwidth || this.variants.find(({ video }) => video === stream)?.bandwidth;
    const listed: number | null | undefined = this.live.isLive ? null : stream.segmentIndex?.find(startSeconds);
    return {
      period: this.#period(nominalSeconds),
      representation: { id: idOf(stream), bitrateBps: declared ?? 0 },
      index: listed ?? Math.round(startSeconds / nominalSeconds),
      segmentSeconds: endSeconds - startSeconds,
      endSeconds,
      indexedBits: rangeBits(reference),
    };
  }

  get #playhead(): number {
    return this.element?.currentTime ?? 0;
  }

  #goalSeconds(): number {
    const { bufferingGoal, rebufferingGoal } = this.player.getConfiguration().streaming;
    return Math.max(bufferingGoal, rebufferingGoal);
  }

  /** Nominal. */
  #segmentSeconds(): number {
    const index = this.variants.find(({ video }) => video?.segmentIndex)?.video?.segmentIndex;
    const position: number | null | undefined = index?.find(this.#playhead);
    const segment: SegmentReference | null = position == null ? null : index!.get(position);
    return segment ? segment.getEndTime() - segment.getStartTime() : this.player.getStats().maxSegmentDuration || 1;
  }

  /** Shaka joins the periods of a stream. */
  #period(seconds: number): Period {
    const { live, player } = this;
    const segmentCount = live.isLive ? Number.POSITIVE_INFINITY : Math.ceil(player.seekRange().end / seconds - 0.01);
    return { id: '0', startSeconds: 0, firstIndex: 0, segmentCount, segmentsAfter: 0 };
  }
}

/** Bits from the first to the last byte; undefined where the manifest does not say. */
function rangeBits(segment: SegmentReference | null | undefined): number | undefined {
  const end = segment?.getEndByte();
  return end == null ? undefined : 8 * (end - segment!.getStartByte() + 1);
}
