/** The parts of Shaka Player that the adapter uses, of versions 4.16 and 5.2, by types of its own. Seconds and bytes. */

/** Of `AdvancedRequestType`. */
export const MEDIA_SEGMENT = 1;
/** Of `AdvancedRequestType`. */
export const INIT_SEGMENT = 0;
/** Of `Error.Code`. */
export const OPERATION_ABORTED = 7001;

export interface SegmentReference {
  getStartTime(): number;
  getEndTime(): number;
  getStartByte(): number;
  getEndByte(): number | null;
}

export interface SegmentIndex {
  find(seconds: number): number | null;
  get(position: number): SegmentReference | null;
}

export interface Stream {
  id: number;
  /** The id in the manifest. */
  originalId: string | null;
  type: string;
  bandwidth?: number | undefined;
  /** Null until Shaka needs it. */
  segmentIndex: SegmentIndex | null;
}

/** A video stream with an audio stream. */
export interface Variant {
  id: number;
  bandwidth: number;
  audio: Stream | null;
  video: Stream | null;
}

export interface RequestContext {
  type?: number | undefined;
  stream?: Stream | undefined;
  segment?: SegmentReference | undefined;
}

/** Shaka keeps the object from the beginning of a request to its end. */
export type Request = object;

export type RequestFilter = (type: number, request: Request, context?: RequestContext) => void;

export type SwitchCallback = (variant: Variant, clearBuffer?: boolean, safeMargin?: number) => void;

/** The methods of Shaka's `AbrManager` that the adapter intercepts; arguments that it only passes on are left open. */
export interface AbrManager {
  init(switchTo: SwitchCallback, ...more: unknown[]): void;
  stop(): void;
  release(): void;
  setVariants(variants: Variant[], ...more: unknown[]): unknown;
  chooseVariant(...how: unknown[]): Variant;
  segmentDownloaded(
    milliseconds: number,
    bytes: number,
    allowSwitch: boolean,
    request?: Request,
    context?: RequestContext,
  ): void;
  trySuggestStreams(): void;
  getBandwidthEstimate(): number;
  setMediaElement(element: HTMLMediaElement): void;
}
