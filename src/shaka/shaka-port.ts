/** Implements the core's port for Shaka Player: what plays, what may be chosen, and how to abandon a download. */

import { bufferCapSeconds } from '../core/buffer-cap.ts';
import type { LiveOptions } from '../core/options.ts';
import type { Choice, PlayerPort, SegmentRequest, Situation } from '../core/player-port.ts';
import { createLive } from './live.ts';
import {
  type BufferedRange,
  isLive,
  rangeBits,
  type SegmentReference,
  type ShakaPlayer,
  type Stream,
  type SwitchCallback,
  type Variant,
} from './player.ts';

/** Shaka asks itself twice a second whether to request: a choice this long before is still of the same moment. */
const AHEAD_SECONDS = 0.5;
/** Shaka jumps gaps of this length. */
const GAP_SECONDS = 0.2;

const idOf = ({ originalId, id }: Stream) => originalId ?? String(id);
const bitrateOf = ({ video, bandwidth }: Variant) => video?.bandwidth || bandwidth;

/** The choices of Shaka's own manager: now, and on a link without limits. */
interface ShakasChoices {
  chooseVariant(): Variant;
  highestVariant(): Variant;
}

export type ShakaPort = ReturnType<typeof createShakaPort>;

export function createShakaPort(player: ShakaPlayer, options: { live: LiveOptions }, manager: () => ShakasChoices) {
  /** Of the present source. */
  let source: { variants: Variant[]; switchTo?: SwitchCallback; element?: HTMLMediaElement } = { variants: [] };
  let isAbandoning = false;
  const element = () => source.element;
  const live = createLive(player, options, element);
  const playhead = () => source.element?.currentTime ?? 0;

  function aheadSeconds(ranges: readonly BufferedRange[]): number {
    const now = playhead();
    return Math.max(0, ...ranges.filter(({ start }) => start <= now + GAP_SECONDS).map(({ end }) => end - now));
  }
  const goalSeconds = () => {
    const { bufferingGoal, rebufferingGoal } = player.getConfiguration().streaming;
    return Math.max(bufferingGoal, rebufferingGoal);
  };

  function active(): Variant | undefined {
    const id = player.getVariantTracks().find((track) => track.active)?.id;
    return source.variants.find((variant) => variant.id === id);
  }
  /** What plays, or what Shaka itself would begin with. */
  const present = () => active() ?? manager().chooseVariant();

  /** The variants with the present audio that the page allows, ascending in bitrate; at least one, unless there is no video. */
  function allowed(): Variant[] {
    const audio = present()?.audio;
    const ladder = source.variants
      .filter((variant) => variant.video && variant.audio === audio)
      .sort((a, b) => bitrateOf(a) - bitrateOf(b));
    const { restrictions } = player.getConfiguration().abr;
    const fits = (bound: 'Width' | 'Height' | 'Pixels' | 'FrameRate' | 'Bandwidth', value: number | undefined) =>
      !(value! < restrictions[`min${bound}`] || value! > restrictions[`max${bound}`]);
    const most = bitrateOf(manager().highestVariant());
    const within = ladder.filter((variant) => {
      const { width, height, frameRate } = variant.video!;
      return (
        bitrateOf(variant) <= most &&
        // As Shaka has it: the longer side of a portrait picture counts as its width. Unknown sizes fit.
        fits('Width', Math.max(width!, height!)) &&
        fits('Height', Math.min(width!, height!)) &&
        fits('Pixels', width! * height!) &&
        fits('FrameRate', frameRate) &&
        fits('Bandwidth', variant.bandwidth)
      );
    });
    return within.length > 0 ? within : ladder.slice(0, 1);
  }

  function segmentAt(stream: Stream | null | undefined, seconds: number): SegmentReference | null | undefined {
    const position = stream?.segmentIndex?.find(seconds);
    return position == null ? undefined : stream!.segmentIndex!.get(position);
  }

  /** Nominal. */
  function segmentSeconds(): number {
    const video = source.variants.find((variant) => variant.video?.segmentIndex)?.video;
    const segment = segmentAt(video, playhead());
    return segment ? segment.getEndTime() - segment.getStartTime() : player.getStats().maxSegmentDuration || 1;
  }

  /** Shaka joins the periods of a stream. */
  function period(isDynamic: boolean, seconds: number) {
    const segmentCount = isDynamic ? Number.POSITIVE_INFINITY : Math.ceil(player.seekRange().end / seconds - 0.01);
    return { id: '0', startSeconds: 0, firstIndex: 0, segmentCount, segmentsAfter: 0 };
  }

  const port = {
    name: 'Shaka Player',
    origin() {
      const uri = player.getAssetUri();
      return uri === null ? undefined : new URL(uri, globalThis.location?.href).origin;
    },
    situation(): Situation | undefined {
      if (!port.isEnabled() || !port.hasVideo()) return undefined;
      const ladder = allowed();
      const seconds = segmentSeconds();
      const now = live.position();
      const { video, total } = player.getBufferedInfo();
      const bufferLevelSeconds = aheadSeconds(video);
      const capSeconds = goalSeconds() + seconds;
      const streams = new Map(ladder.map(({ video }) => [idOf(video!), video!]));
      return {
        period: period(now !== undefined, seconds),
        ladder: ladder.map((variant) => ({ id: idOf(variant.video!), bitrateBps: bitrateOf(variant) })),
        playback: {
          segmentSeconds: seconds,
          bufferLevelSeconds,
          bufferCapSeconds: bufferCapSeconds(capSeconds, seconds, now),
          playbackRate: Math.abs(source.element?.playbackRate || player.getPlaybackRate()) || 1,
          isPaused: source.element?.paused ?? false,
        },
        bufferedUntilSeconds: playhead() + bufferLevelSeconds,
        playableUntilSeconds: playhead() + aheadSeconds(total),
        live: now,
        indexedBits: (id, index) => (now ? undefined : rangeBits(streams.get(id)?.segmentIndex?.get(index))),
      };
    },
    abandon(choice: Choice) {
      isAbandoning = true;
      port.switchTo(port.variant(choice));
    },
    rate: live.rate,

    live,
    /** Shaka gives up the download in flight, if it asks now. */
    isAbandoning: () => isAbandoning,
    abandoned() {
      isAbandoning = false;
    },
    hasVideo: () => source.variants.some(({ video }) => video),
    use(parts: Partial<typeof source>) {
      source = { ...source, ...parts };
    },
    sourceEnded() {
      source = { variants: [] };
      isAbandoning = false;
      live.forget();
    },
    /** What plays or loads, if page and Shaka still allow it. */
    loading: () => allowed().find((variant) => variant === active()),
    variant(choice: Choice | undefined): Variant | undefined {
      return choice && allowed().find(({ video }) => idOf(video!) === choice.representationId);
    },
    switchTo(variant: Variant | undefined) {
      if (variant) source.switchTo?.(variant);
    },
    isEnabled: () => player.getConfiguration().abr.enabled,
    isEmpty: () => aheadSeconds(player.getBufferedInfo().video) === 0,
    /** Nothing comes after this time. */
    isEnd: (seconds: number) => !isLive(player) && seconds >= player.seekRange().end - GAP_SECONDS,
    /** Shaka does not request yet. */
    isFull: () => aheadSeconds(player.getBufferedInfo().video) >= goalSeconds() + AHEAD_SECONDS,
    segment(stream: Stream, reference: SegmentReference): SegmentRequest {
      const start = reference.getStartTime();
      const end = reference.getEndTime();
      const isDynamic = isLive(player);
      const nominal = segmentSeconds();
      return {
        period: period(isDynamic, nominal),
        representation: { id: idOf(stream), bitrateBps: stream.bandwidth || port.bitrate(stream) },
        index: (isDynamic ? null : stream.segmentIndex?.find(start)) ?? Math.round(start / nominal),
        segmentSeconds: end - start,
        endSeconds: end,
        indexedBits: rangeBits(reference),
      };
    },
    bitrate: (stream: Stream) => source.variants.find(({ video }) => video === stream)?.bandwidth ?? 0,
  };
  return port satisfies PlayerPort;
}
