/** Reads HLS playlists on disk (RFC 8216): a multivariant playlist, or the playlist of one variant. */

import { check } from '../../abr/errors.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { readInput } from '../shared/results-file.ts';
import { bytesOf, type Piece, pathOf, type StreamRepresentation, type StreamSegment } from './pieces.ts';

/** Reads the variants with different playlists. Their ids are hls.js's. */
export function readHls(text: string, file: string): StreamRepresentation[] {
  const variants = variantsOf(text, file);
  if (variants.length === 0) {
    const segments = segmentsOf(text, file);
    const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
    const bitrateBps = Math.round((8 * segments.reduce((sum, segment) => sum + bytesOf(segment).length, 0)) / seconds);
    return [{ id: '0', bitrateBps, segments }];
  }
  const isShared = (id: string) => variants.filter((other) => other.bandwidth === id).length > 1;
  return variants.map(({ bandwidth, path, ...about }) => ({
    id: isShared(bandwidth) ? `${bandwidth}-${about.width}x${about.height}` : bandwidth,
    ...about,
    segments: segmentsOf(readInput(path, file), path),
  }));
}

type Variant = Omit<StreamRepresentation, 'id' | 'segments'> & { bandwidth: string; path: string };

function variantsOf(text: string, file: string): Variant[] {
  const variants: Variant[] = [];
  let attributes: Record<string, string> | undefined;
  for (const [line, at] of linesOf(text)) {
    if (line.startsWith('#EXT-X-STREAM-INF:')) attributes = attributesOf(line);
    else if (attributes !== undefined && !line.startsWith('#')) {
      const { BANDWIDTH: bandwidth = '', RESOLUTION: size, CODECS: codecs } = attributes;
      const bitrateBps = Number(attributes['AVERAGE-BANDWIDTH'] ?? bandwidth);
      check(bitrateBps > 0, placeOf({ file, line: at }), 'a BANDWIDTH above 0', bandwidth);
      const [width, height] = size?.split('x').map(Number) ?? [];
      const frameRate = Number(attributes['FRAME-RATE']);
      const codec = codecs?.split(',').find((one) => !/^(mp4a|ac-3|ec-3|opus|flac|stpp|wvtt)/i.test(one));
      const path = pathOf(line, file);
      const isOther = variants.every((variant) => variant.path !== path);
      // A variant whose codecs are all of sound has no video, unless it has a picture's size.
      if (isOther && (codecs === undefined || codec !== undefined || size !== undefined)) {
        variants.push({
          ...{ bandwidth, path, bitrateBps },
          ...(width && height && { width, height }),
          ...(frameRate > 0 && { frameRate }),
          ...(codec !== undefined && { codec }),
        });
      }
      attributes = undefined;
    }
  }
  return variants;
}

function segmentsOf(text: string, file: string): StreamSegment[] {
  const segments: StreamSegment[] = [];
  let seconds = 0;
  let startSeconds = 0;
  let range: string | undefined;
  let last: Piece | undefined;
  for (const [line, at] of linesOf(text)) {
    const place = placeOf({ file, line: at });
    if (line.startsWith('#EXTINF:')) {
      seconds = Number.parseFloat(line.slice('#EXTINF:'.length));
      check(seconds > 0, place, 'a duration above 0', line);
    } else if (line.startsWith('#EXT-X-BYTERANGE:')) range = line.slice('#EXT-X-BYTERANGE:'.length);
    else if (line.startsWith('#EXT-X-KEY:')) {
      check(attributesOf(line)['METHOD'] === 'NONE', place, 'media without encryption', line);
    } else if (!line.startsWith('#')) {
      last = pieceOf(pathOf(line, file), range, last);
      segments.push({ ...last, startSeconds, seconds });
      startSeconds += seconds;
      range = undefined;
    }
  }
  check(/^#EXT-X-ENDLIST/m.test(text), file, 'a complete playlist, with #EXT-X-ENDLIST', text);
  return segments;
}

/** Parses `<length>[@<start>]`. Without a start, the piece follows `previous`. */
function pieceOf(file: string, range: string | undefined, previous?: Piece): Piece {
  if (range === undefined) return { file };
  const [length, start] = range.split('@').map(Number);
  const from = start ?? (previous?.file === file ? previous.end : undefined) ?? 0;
  return { file, start: from, end: from + length! };
}

/** Yields the lines that are not empty, with their numbers from 1. */
function* linesOf(text: string): Generator<[line: string, at: number]> {
  for (const [i, line] of text.split('\n').entries()) if (line.trim() !== '') yield [line.trim(), i + 1];
}

function attributesOf(line: string): Record<string, string> {
  const found = line.slice(line.indexOf(':') + 1).matchAll(/([A-Z0-9-]+)=("[^"]*"|[^,]*)/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name!, value!.replace(/^"|"$/g, '')]));
}
