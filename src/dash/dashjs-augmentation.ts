/**
 * Corrects dash.js's own `index.d.ts` (5.2.1) where it differs from the code. Importing the plugin's types applies it,
 * so that code written against dash.js's types can use the same methods.
 */

import type {} from 'dashjs';

declare module 'dashjs' {
  interface ScheduleController {
    getPlaybackController(): PlaybackController;
    /** Declared under another name. */
    setShouldCheckPlaybackQuality?(value: boolean): void;
  }

  interface PlaybackController {
    /** Declared as `object`. */
    getStreamController(): StreamController;
  }

  interface StreamController {
    /** Declared as `object | null`. */
    getStreamById(id: string): Stream | null;
  }

  interface RepresentationController {
    /** Missing; `getRepresentationForQuality` no longer exists. */
    getRepresentationById(id: string): Representation | null;
  }

  interface FragmentRequest {
    /** Missing. False: the segment may be requested before its last chunk exists. */
    availabilityTimeComplete?: boolean;
    endDate: Date | null;
    representation: Representation | null;
    range: string | null;
    /** Progress of the download: from `s`, `d` milliseconds, `b[0]` bytes. */
    traces: { s: Date; d: number; b: number[] }[];
  }
}
