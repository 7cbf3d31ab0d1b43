/** The variants of a source: the ladder of their video streams, and the audio that goes with a video. */

import { ladderOf, withBitrates } from '../../session/ladder.ts';
import type { Representation } from '../../session/player-port.ts';
import type { ShakaStream, Variant } from './player.ts';

/** A video stream. */
export interface VariantRung extends Representation {
  video: ShakaStream;
}

/** What audio may need with the video. */
export interface AudioBounds {
  /** The audio that plays, or that Shaka would begin with. */
  reference: ShakaStream | null | undefined;
  /** Largest bandwidth of a variant to stay with, and to go up to. */
  mostBps: { stay: number; up: number };
}

const unique = (variants: readonly Variant[]) =>
  [...new Set(variants.map(({ video }) => video))].filter((video) => video !== null);

export class Variants {
  /** The variants of the present source that Shaka allows. */
  all: readonly Variant[] = [];
  /** A video stream's bitrate and id stay the same: Shaka changes `bandwidth` when it has loaded an HLS playlist. */
  private readonly _rungs = new Map<ShakaStream, VariantRung>();
  /** HLS: only variants declare a bandwidth. */
  private _isOfVariants: boolean | undefined;
  private _isUnknown = false;

  get hasVideo(): boolean {
    return this.all.some(({ video }) => video);
  }

  /** The stream has no bitrates to choose by. */
  get isUnknown(): boolean {
    return this.hasVideo && this._isUnknown;
  }

  set(variants: readonly Variant[]): void {
    this.all = variants;
    const videos = unique(variants);
    if (videos.every((video) => this._rungs.has(video))) return;
    // Another source: a preload's, which has not been played.
    if (!videos.some((video) => this._rungs.has(video))) {
      this._rungs.clear();
      this._isOfVariants = undefined;
    }
    this._isOfVariants ??= videos.some(({ bandwidth }) => bandwidth === undefined);
    const rungs = withBitrates(videos.map((video) => this._rungs.get(video) || this._declared(video)));
    this._isUnknown = !rungs;
    const taken = new Set([...this._rungs.values()].map(({ id }) => id));
    for (const rung of rungs || []) {
      if (this._rungs.has(rung.video)) continue;
      const { originalId, id } = rung.video;
      const free = [originalId || String(id), String(id), `${originalId}#${id}`].find((one) => !taken.has(one))!;
      taken.add(free);
      this._rungs.set(rung.video, { ...rung, id: free });
    }
  }

  /** A stream that is in no variant is for trick play. */
  rungOf(video: ShakaStream): VariantRung {
    return this._rungs.get(video) || this._declared(video);
  }

  /** Ascending in bitrate. */
  ladder(allowed: readonly Variant[]): VariantRung[] {
    return ladderOf(unique(allowed).map((video) => this.rungOf(video)));
  }

  private _declared(video: ShakaStream): VariantRung {
    const { width, height, frameRate, codecs: codec, bandwidth } = video;
    const ofVariants = this.all.filter((variant) => variant.video === video).map((variant) => variant.bandwidth);
    const bitrateBps = this._isOfVariants && ofVariants.length > 0 ? Math.min(...ofVariants) : bandwidth;
    const id = video.originalId || String(video.id);
    return { id, video, bitrateBps: bitrateBps || 0, width, height, frameRate, codec };
  }
}

/**
 * The variant of a video, with an audio as good as the video: the lowest video has the lowest audio, the highest the
 * highest, if the link carries both. An audio that plays stays while it suits the next higher video, too. Language,
 * roles and channels are the reference's if there are any; the label decides where nothing else does.
 */
export function withAudio(
  variants: readonly Variant[],
  { rung, rungs }: { rung: number; rungs: number },
  { reference, mostBps }: AudioBounds,
): Variant | undefined {
  const alike = variants.filter(({ audio }) => isAlike(audio, reference));
  const sorted = [...(alike.length > 0 ? alike : variants)].sort(
    (a, b) => a.bandwidth - b.bandwidth || nearness(a.audio, reference) - nearness(b.audio, reference),
  );
  const choices = sorted.filter(({ bandwidth }, i) => bandwidth !== sorted[i + 1]?.bandwidth);
  const last = choices.length - 1;
  const beside = (video: number) => (rungs > 1 ? Math.floor((last * Math.min(video, rungs - 1)) / (rungs - 1)) : last);
  const within = (bps: number) => Math.max(0, choices.filter(({ bandwidth }) => bandwidth <= bps).length - 1);
  const least = beside(rung);
  const most = rung === 0 ? least : beside(rung + 1);
  const up = Math.min(least, within(mostBps.up));
  const stay = within(mostBps.stay);
  const present = choices.findIndex(({ audio }) => audio === reference);
  return choices[present > Math.min(most, stay) ? Math.min(least, stay) : Math.max(present, up)];
}

function isAlike(audio: ShakaStream | null, reference: ShakaStream | null | undefined): boolean {
  const keyOf = (one: ShakaStream | null | undefined) =>
    one && [one.language, one.channelsCount, one.spatialAudio, ...(one.roles || [])].join();
  return keyOf(audio) === keyOf(reference);
}

function nearness(audio: ShakaStream | null, reference: ShakaStream | null | undefined): number {
  return Number(audio?.label === reference?.label) + 2 * Number(audio === reference);
}
