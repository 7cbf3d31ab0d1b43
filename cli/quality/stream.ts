/** Reads a stream's manifest, DASH or HLS, on disk. */

import { InputError } from '../../abr/errors.ts';
import { readInput } from '../shared/results-file.ts';
import { readDash } from './dash.ts';
import { readHls } from './hls.ts';
import type { StreamRepresentation } from './pieces.ts';

/** The video representations of a manifest on disk. @throws {InputError} with the place in the manifest. */
export function readStream(file: string): StreamRepresentation[] {
  const text = readInput(file, '--stream');
  const read = text.trimStart().startsWith('#EXTM3U') ? readHls : /<MPD[\s>]/.test(text) ? readDash : undefined;
  if (read === undefined) throw new InputError(file, 'an MPD, or a playlist that begins with #EXTM3U', text);
  const representations = read(text, file).filter(({ segments }) => segments.length > 0);
  if (representations.length === 0) throw new InputError(file, 'video with segments', undefined, 'none');
  return representations;
}
