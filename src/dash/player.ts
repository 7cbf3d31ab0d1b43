/** What of dash.js's MediaPlayer the plugin uses; dash.js itself is handed in by the page and never imported. */

import type { MediaPlayerClass } from 'dashjs';
import './dashjs-augmentation.ts';

/** A dash.js player, or whatever behaves like one. */
export type DashPlayer = Pick<
  MediaPlayerClass,
  | 'getVersion'
  | 'getSettings'
  | 'updateSettings'
  | 'addABRCustomRule'
  | 'removeABRCustomRule'
  | 'getABRCustomRules'
  | 'getBufferLength'
  | 'getVideoElement'
  | 'on'
  | 'off'
>;

const METHODS: readonly (keyof DashPlayer)[] = [
  'getVersion',
  'getSettings',
  'updateSettings',
  'addABRCustomRule',
  'removeABRCustomRule',
  'getABRCustomRules',
  'getBufferLength',
  'getVideoElement',
  'on',
  'off',
];

/** Rule priorities came with 5.1; without them audio cannot be left to dash.js while video is decided here. */
const OLDEST = { major: 5, minor: 1 };

/** Why this player cannot be served, in words; undefined where it can. */
export function whyUnsupported(player: unknown): string | undefined {
  if (typeof player !== 'object' || player === null) return 'not a dash.js player';
  const candidate = player as Partial<Record<keyof DashPlayer, unknown>>;
  const missing = METHODS.filter((name) => typeof candidate[name] !== 'function');
  if (missing.length > 0) return `the player has no ${missing.map((name) => `${name}()`).join(', ')}`;
  const version = String((player as DashPlayer).getVersion());
  const [major, minor] = version.split('.').map(Number);
  if (major !== OLDEST.major || !(minor! >= OLDEST.minor)) {
    return `dash.js ${version}, needed is ${OLDEST.major}.${OLDEST.minor} or later of version ${OLDEST.major}`;
  }
  if (valueAt((player as DashPlayer).getSettings(), 'streaming.abr.rules.throughputRule.priority') === undefined) {
    return `dash.js ${version} has no setting streaming.abr.rules.throughputRule.priority`;
  }
  return undefined;
}

/** The value at a path like `streaming.abr.maxBitrate.video`; undefined where there is none. */
export function valueAt(settings: unknown, path: string): unknown {
  let value: unknown = settings;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Listens to any event of the player by name; returns what stops it. */
export function listen<E>(player: DashPlayer, type: string, listener: (event: E) => void): () => void {
  // dash.js's types know the names of some events only.
  const bus = player as unknown as Record<'on' | 'off', (type: string, listener: (event: E) => void) => void>;
  bus.on(type, listener);
  return () => bus.off(type, listener);
}

/** Bits of a byte range `first-last`; undefined where there is none. */
export function rangeBits(range: string | null | undefined): number | undefined {
  const [first, last] = (range ?? '').split('-').map((part) => (part === '' ? Number.NaN : Number(part)));
  const bits = (last! - first! + 1) * 8;
  return bits > 0 ? bits : undefined;
}
