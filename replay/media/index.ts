/** DASH and HLS media of exact byte sizes, made from small clips. Pure; for Node, workers and pages. */
export { ByteRuns } from './byte-runs.ts';
export { MAX_REPRESENTATIONS, videoClip } from './clips.ts';
export { UTC_PATH } from './manifest.ts';
export { type BlockingReload, MULTIVARIANT_PLAYLIST } from './playlists.ts';
export {
  type MediaFile,
  type PartKind,
  type Presentation,
  type PresentationOptions,
  presentation,
} from './presentation.ts';
export type { PresentationTime } from './stream.ts';
