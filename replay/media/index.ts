/** DASH and HLS media of exact byte sizes, made from small clips. Pure; for Node, workers and pages. */
export { ByteRuns } from './byte-runs.ts';
export { MAX_REPRESENTATIONS, videoClip } from './clips.ts';
export { SegmentSizeError } from './compose-segment.ts';
export { type PresentationTime, UTC_PATH } from './manifest.ts';
export { type BlockingReload, MULTIVARIANT_PLAYLIST } from './playlists.ts';
export {
  ADDRESSINGS,
  type MediaFile,
  type PartKind,
  type Presentation,
  type PresentationOptions,
  presentation,
} from './presentation.ts';
