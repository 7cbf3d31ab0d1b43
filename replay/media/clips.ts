/** The clips that come with the project, decoded at first use. */

import { type Clip, clipFromBase64 } from './fixture.ts';
import { AUDIO_FIXTURE, VIDEO_FIXTURES } from './fixtures/fixtures.ts';

/** The most representations of a ladder: each needs its own picture size. */
export const MAX_REPRESENTATIONS = VIDEO_FIXTURES.length;

const videos: Clip[] = [];
let audio: Clip | undefined;

/** The clips in ascending picture size: 64x36, 96x54, 128x72, 160x90 ... */
export function videoClip(index: number): Clip {
  const fixture = VIDEO_FIXTURES[index];
  if (fixture === undefined) throw new RangeError(`video clip: expected 0 to ${MAX_REPRESENTATIONS - 1}, got ${index}`);
  videos[index] ??= clipFromBase64(fixture);
  return videos[index];
}

export function audioClip(): Clip {
  audio ??= clipFromBase64(AUDIO_FIXTURE);
  return audio;
}
