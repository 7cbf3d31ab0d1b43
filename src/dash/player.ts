/** The part of dash.js's MediaPlayer that the plugin uses. The page passes the player in; dash.js is never imported. */

import './dashjs-augmentation.ts';
import type { MediaPlayerClass, Representation } from 'dashjs';
import { attempt } from '../../session/page/events.ts';
import { isPaused } from '../adapter-kit.ts';

/** A dash.js player or a compatible object. */
export type DashPlayer = Pick<MediaPlayerClass, (typeof METHODS)[number]>;

const METHODS = [
  'getVersion',
  'getSettings',
  'updateSettings',
  'addABRCustomRule',
  'removeABRCustomRule',
  'getABRCustomRules',
  'addRequestInterceptor',
  'removeRequestInterceptor',
  'getVideoElement',
  'on',
  'off',
] as const satisfies (keyof MediaPlayerClass)[];

/** Why this player is not supported; undefined if it is. */
export function whyUnsupported(player: DashPlayer): string | undefined {
  const version = player.getVersion();
  const why = `dash.js ${version} is not 5.1 or later of version 5`;
  const missing = METHODS.find((name) => typeof player[name] !== 'function');
  if (missing) return `${why}: it has no ${missing}()`;
  // Rule priorities exist since 5.1: without them the plugin could not decide on video while dash.js decides on audio.
  const isServed = /^5\./.test(version) && setting(player, 'abr.rules.throughputRule.priority') !== undefined;
  return isServed ? undefined : why;
}

/** Without an element, a player throws a text; once destroyed, it has no model of the element. */
export function isDestroyed(player: DashPlayer): boolean {
  try {
    player.getVideoElement?.();
    return false;
  } catch (error) {
    return (error as Partial<Error>).name === 'TypeError';
  }
}

/** A setting below `streaming`, by a path like `abr.maxBitrate.video`; undefined if it does not exist. */
export function setting(player: DashPlayer, path: string): unknown {
  let value: unknown = player.getSettings().streaming;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined | null)?.[key];
  return value;
}

/** Sets a setting below `streaming`, by a path as for `setting`. */
export function set(player: DashPlayer, path: string, value: unknown): void {
  const keys = ['streaming', ...path.split('.')];
  player.updateSettings(keys.reduceRight<object>((inner, key) => ({ [key]: inner }), value as object));
}

/** Bits of a byte range `first-last`; undefined without a range. */
export function rangeBits(range: string | null | undefined): number | undefined {
  const [first, last] = (range || '').split('-').map(Number.parseFloat);
  const bits = (last! - first! + 1) * 8;
  return bits > 0 ? bits : undefined;
}

export function isLive({ mediaInfo }: Representation): boolean {
  return mediaInfo!.streamInfo!.manifestInfo.isDynamic;
}

/** Nominal duration of a representation's segments, in seconds. */
export function segmentDuration({ id, segmentDuration, fragmentDuration }: Representation): number {
  const seconds = segmentDuration || fragmentDuration;
  if (!seconds) throw new Error(`representation ${id} has no segment duration`);
  return seconds;
}

/* The current playback and buffer level; dash.js's own figure is as old as its last event. */

/** dash.js jumps over gaps up to this. */
const GAP_SECONDS = 0.5;

interface BufferLevelEvent {
  mediaType?: string;
  streamId?: string;
  bufferLevel: number;
}

/** For dash.js's events: `handlers`. */
export class BufferGauge {
  /** dash.js has cut its buffer targets, because the source buffer was full. */
  isQuotaExceeded = false;
  private readonly _readings = new Map<string | undefined, { levelSeconds: number; playhead: number }>();

  constructor(private readonly _player: DashPlayer) {}

  element(): HTMLMediaElement | undefined {
    // dash.js throws while no element is attached.
    return attempt(() => this._player.getVideoElement());
  }

  playheadSeconds(): number {
    return this.element()?.currentTime || 0;
  }

  /** Buffer level of this period, in seconds of video ahead of the playhead; >= 0. Undefined until dash.js reports it. */
  levelSeconds(streamId: string, playhead: number): number | undefined {
    const reading = this._readings.get(streamId);
    return reading && Math.max(0, reading.levelSeconds - Math.max(0, playhead - reading.playhead));
  }

  /** Where the element is, in seconds of the presentation, and how it plays. */
  playback(): { playhead: number; playableSeconds: number; playbackRate: number; isPaused: boolean } {
    const element = this.element();
    const { currentTime, buffered, playbackRate }: Partial<HTMLMediaElement> = element || {};
    const playhead = currentTime || 0;
    let end = playhead;
    for (let i = 0; i < (buffered?.length || 0); i++) {
      if (buffered!.start(i) <= end + GAP_SECONDS) end = Math.max(end, buffered!.end(i));
    }
    return {
      playhead,
      // Until playback would stall, across periods.
      playableSeconds: end - playhead,
      // dash.js can set a rate of 0 while it stalls.
      playbackRate: playbackRate || 1,
      isPaused: isPaused(element),
    };
  }

  /** Drops earlier readings, after a seek or with another source. */
  forget(): void {
    this._readings.clear();
  }

  readonly handlers = {
    bufferLevelUpdated: ({ mediaType, streamId, bufferLevel }: BufferLevelEvent) => {
      if (mediaType !== 'video') return;
      this._readings.set(streamId, { levelSeconds: bufferLevel, playhead: this.playheadSeconds() });
    },
    quotaExceeded: () => {
      this.isQuotaExceeded = true;
    },
  };
}
