/** The part of Shaka Player (4.16, 5) that the plugin uses. The page passes the player in; Shaka is never imported. */

import type shaka from 'shaka-player';

export type AbrManager = shaka.extern.AbrManager;
export type Request = shaka.extern.Request;
export type RequestContext = shaka.extern.RequestContext;
export type SegmentReference = shaka.media.SegmentReference;
export type Stream = shaka.extern.Stream;
export type Variant = shaka.extern.Variant;

/** Of `AdvancedRequestType`. */
export const INIT_SEGMENT = 0;
export const MEDIA_SEGMENT = 1;
/** Of `Error.Code`. */
export const BAD_HTTP_STATUS = 1001;
export const OPERATION_ABORTED = 7001;

const METHODS = [
  'configure',
  'getNetworkingEngine',
  'addEventListener',
  'removeEventListener',
  'getBufferedInfo',
  'getVariantTracks',
  'getStats',
  'getAssetUri',
  'getManifest',
  'getPlaybackRate',
  'isLive',
  'seekRange',
] as const satisfies (keyof shaka.Player)[];

/** `shaka.Player`. */
export type ShakaPlayer = Pick<shaka.Player, (typeof METHODS)[number] | 'getConfiguration'> & {
  /** From Shaka 5: also a live stream whose end is known. */
  isDynamic?(): boolean;
};

/** The reason why the plugin cannot adapt this player; undefined if it can. */
export function whyUnsupported(player: ShakaPlayer): string | undefined {
  const missing = METHODS.find((name) => typeof player[name] !== 'function');
  return missing && `leo-abr needs Shaka Player 4.16, or 5: ${missing}() is missing`;
}

/** `https://host:port` of the manifest; undefined if it has no URL. */
export function originOf(player: ShakaPlayer): string | undefined {
  const uri = player.getAssetUri();
  return uri === null ? undefined : new URL(uri, globalThis.location?.href).origin;
}
