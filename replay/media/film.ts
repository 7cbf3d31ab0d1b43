/** The clips of the demo's film: the bitrate of a rung is visible at a glance. */

import { MAX_REPRESENTATIONS } from './clips.ts';
import { type Clip, clipFromBase64 } from './fixture.ts';
import { FILM_FIXTURES } from './fixtures/film.ts';

/** A clip per rung. Rungs above the sixth have its clip, because the film is small. */
export function filmClips(): Clip[] {
  const clips = FILM_FIXTURES.map(clipFromBase64);
  return Array.from({ length: MAX_REPRESENTATIONS }, (_, i) => clips[Math.min(i, clips.length - 1)]!);
}
