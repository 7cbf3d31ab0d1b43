/** The part of dash.js's MediaPlayer that the plugin uses. The page passes the player in; dash.js is never imported. */

import type { MediaPlayerClass, Representation } from 'dashjs';
import './dashjs-augmentation.ts';

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
  const missing = METHODS.find((name) => typeof player[name] !== 'function');
  if (missing) return `the player has no ${missing}()`;
  const version = player.getVersion();
  // Rule priorities exist since 5.1: without them the plugin could not decide on video while dash.js decides on audio.
  const isServed = /^5\./.test(version) && setting(player, 'abr.rules.throughputRule.priority') !== undefined;
  return isServed ? undefined : `dash.js ${version} is not 5.1 or later of version 5`;
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
  if (!range) return undefined;
  const [first, last] = range.split('-').map(Number);
  const bits = (last! - first! + 1) * 8;
  return bits > 0 ? bits : undefined;
}

/** Nominal duration of a representation's segments, in seconds. */
export function segmentDuration({ id, segmentDuration, fragmentDuration }: Representation): number {
  const seconds = segmentDuration || fragmentDuration;
  if (!seconds) throw new Error(`representation ${id} has no segment duration`);
  return seconds;
}
