/**
 * The part of Shaka Player (4.16, 5) that the plugin uses. Shaka's own types fit these types, which pages without Shaka
 * need. The page passes the player in; the plugin never imports Shaka. Units are seconds, bytes and bit/s.
 */

import { has } from '../../session/page/checks.ts';

export interface SegmentReference {
  getStartTime(): number;
  getEndTime(): number;
  getStartByte(): number;
  /** Null if unknown. */
  getEndByte(): number | null;
  /** A segment in parts that Shaka requests at once; its end is the end of the parts so far. */
  hasByterangeOptimization?(): boolean;
}

export interface ShakaStream {
  id: number;
  /** The id in the manifest. */
  originalId: string | null;
  type: string;
  bandwidth?: number;
  width?: number;
  height?: number;
  frameRate?: number;
  codecs?: string;
  language?: string;
  label?: string | null;
  roles?: string[];
  channelsCount?: number | null;
  spatialAudio?: boolean;
  /** The stream has short parts, with which Shaka begins (L3D-DASH). */
  fastSwitching?: boolean;
  /** Null until Shaka plays the stream, and again after it. Positions count from the first segment. */
  segmentIndex: {
    find(seconds: number): number | null;
    get(position: number): SegmentReference | null;
  } | null;
}

/** A video stream together with an audio stream. */
export interface Variant {
  id: number;
  bandwidth: number;
  audio: ShakaStream | null;
  video: ShakaStream | null;
  /** Unix time in seconds until which Shaka does not play a variant that has failed; 0 if it plays. */
  disabledUntilTime?: number;
}

export interface RequestContext {
  type?: number;
  stream?: ShakaStream;
  segment?: SegmentReference | null;
  /** The source does not play yet. */
  isPreload?: boolean;
}

export interface ShakaRequest {
  uris: string[];
  headers: Record<string, string>;
  /** Shaka sets it when it sends the request, at each attempt. */
  requestStartTime?: number | null;
  /** Called with each part of the body as it arrives. */
  streamDataCallback?: ((part: ArrayBuffer | ArrayBufferView) => Promise<unknown>) | null;
}

/** With `clearBuffer`, Shaka keeps only `safeMargin` seconds of the buffer. */
export type SwitchCallback = (variant: Variant, clearBuffer?: boolean, safeMargin?: number) => void;

/** The part of Shaka's `AbrConfiguration` that the plugin uses. */
export interface AbrSettings {
  enabled: boolean;
  restrictions: Record<Bound, number>;
  restrictToElementSize: boolean;
  restrictToScreenSize: boolean;
  bandwidthUpgradeTarget: number;
  bandwidthDowngradeTarget: number;
  /** Seconds. */
  switchInterval: number;
  clearBufferSwitch: boolean;
  safeMarginSwitch: number;
}

/** Shaka's `AbrManager`, without the members that the plugin only passes on. */
export interface AbrManager {
  init(switchTo: SwitchCallback, ...more: unknown[]): void;
  stop(): void;
  release(): void;
  setVariants(variants: Variant[], ...more: unknown[]): unknown;
  chooseVariant(preferFastSwitching?: boolean): Variant;
  enable(): void;
  disable(): void;
  segmentDownloaded(
    milliseconds: number,
    bytes: number,
    allowSwitch: boolean,
    request?: object,
    context?: RequestContext,
  ): void;
  trySuggestStreams(): void;
  getBandwidthEstimate(): number;
  setMediaElement(element: HTMLMediaElement): void;
  configure(settings: AbrSettings): void;
}

type Range = { start: number; end: number };
type RequestFilter = (type: number, request: ShakaRequest, context?: RequestContext) => void;
export type ResponseFilter = (
  type: number,
  response: { data: ArrayBuffer | ArrayBufferView },
  context?: RequestContext,
) => void;
type Bound = `${'min' | 'max'}${'Width' | 'Height' | 'Pixels' | 'FrameRate' | 'ChannelsCount' | 'Bandwidth'}`;

export interface Configuration {
  // biome-ignore lint/suspicious/noExplicitAny: Shaka's own type has more members than `AbrManager` here.
  abrFactory: () => any;
  abr: AbrSettings;
  cmcd: { enabled: boolean };
  streaming: {
    bufferingGoal: number;
    rebufferingGoal: number;
    segmentPrefetchLimit: number;
    /** Seconds. */
    maxDisabledTime: number;
    lowLatencyMode: boolean;
    liveSync: {
      enabled: boolean;
      targetLatency: number;
      minPlaybackRate: number;
      maxPlaybackRate: number;
      panicMode: boolean;
    };
  };
}

export interface Manifest {
  type: string;
  presentationTimeline: {
    getSegmentAvailabilityEnd(): number;
    getDelay(): number;
    getAvailabilityTimeOffset(): number;
    getMaxSegmentDuration(): number;
    getMaxSegmentEndTime(): number | null;
  };
  serviceDescription?: {
    targetLatency?: number | null;
    maxLatency?: number | null;
    minPlaybackRate?: number | null;
    maxPlaybackRate?: number | null;
  } | null;
}

/** `shaka.Player`. */
export interface ShakaPlayer {
  getConfiguration(): Configuration;
  configure(config: object): boolean;
  getNetworkingEngine(): {
    registerRequestFilter(filter: RequestFilter): void;
    unregisterRequestFilter(filter: RequestFilter): void;
    registerResponseFilter(filter: ResponseFilter): void;
    unregisterResponseFilter(filter: ResponseFilter): void;
  } | null;
  // biome-ignore lint/suspicious/noExplicitAny: events of Shaka's own.
  addEventListener(type: string, listener: (event: any) => void): void;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  removeEventListener(type: string, listener: (event: any) => void): void;
  getBufferedInfo(): { video: Range[]; total: Range[] };
  getMediaElement(): HTMLMediaElement | null;
  getVariantTracks(): { id: number; active: boolean }[];
  getStats(): { maxSegmentDuration: number };
  getAssetUri(): string | null;
  getManifest(): Manifest | null;
  getPlaybackRate(): number;
  getLoadMode(): number;
  isLive(): boolean;
  /** From Shaka 5 on, also true for a live stream with a known end. */
  isDynamic?(): boolean;
  seekRange(): Range;
}

/** A value of `AdvancedRequestType`. */
export const INIT_SEGMENT = 0;
export const MEDIA_SEGMENT = 1;
export const MEDIA_PLAYLIST = 2;
/** A value of `Player.LoadMode`: without MSE. */
export const SRC_EQUALS = 3;
/** A value of `Error.Code`. */
export const BAD_HTTP_STATUS = 1001;
export const OPERATION_ABORTED = 7001;
/** A value of `Error.Severity`. */
export const CRITICAL = 2;

const METHODS =
  'configure getNetworkingEngine addEventListener removeEventListener getBufferedInfo getMediaElement getVariantTracks ' +
  'getStats getAssetUri getManifest getPlaybackRate isLive seekRange';

/** The reason why the plugin cannot adapt this player; undefined if it can. */
export function whyUnsupported(player: ShakaPlayer): string | undefined {
  const missing = METHODS.split(' ').find((name) => !has(player, name));
  return missing && `leo-abr needs Shaka Player 4.16, or 5: ${missing}() is missing`;
}

/** A manager as Shaka makes it by default. */
export function shakasManager(player: ShakaPlayer): AbrManager {
  const other = new (player.constructor as new () => ShakaPlayer & { destroy(): unknown })();
  const manager: AbrManager = other.getConfiguration().abrFactory();
  other.destroy();
  return manager;
}
