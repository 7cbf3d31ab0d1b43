/** `quality.json` has the bytes and measured quality of a stream's segments. `leo-abr quality` writes it. */

import { check, isFrom, isPositive, requireArray, requireObject } from '../abr/errors.ts';
import type { Encoding } from '../abr/qoe/quality.ts';

export const QUALITY_SCHEMA = 'leo-abr-quality/1';

export interface QualityFile {
  schema: typeof QUALITY_SCHEMA;
  /** Name of the measure, such as `vmaf_v0.6.1`. */
  metric: string;
  /** Usual duration of a segment. */
  segmentSeconds: number;
  /** By id, as in `sizes.json`. If periods share an id, their segments follow each other. */
  representations: Record<string, MeasuredRepresentation>;
}

export interface MeasuredRepresentation extends Pick<Encoding, 'width' | 'height' | 'frameRate' | 'codec'> {
  /** Declared bit/s. */
  bitrateBps: number;
  /** Bytes of each segment. */
  bytes: readonly number[];
  /** Per segment, 0 to 100. */
  quality: readonly number[];
  /** Durations of the segments, if boundaries differ between representations. */
  seconds?: readonly number[];
}

/** Returns a valid parsed `quality.json`; throws an `InputError` that names the first wrong field. `file` is for messages. */
export function parseQuality(value: unknown, file = 'quality'): QualityFile {
  const { schema, metric, segmentSeconds, representations } = requireObject(value, file);
  check(schema === QUALITY_SCHEMA, `${file}.schema`, JSON.stringify(QUALITY_SCHEMA), schema);
  check(typeof metric === 'string', `${file}.metric`, 'text', metric);
  check(isPositive(segmentSeconds), `${file}.segmentSeconds`, 'seconds > 0', segmentSeconds);
  const entries = Object.entries(requireObject(representations, `${file}.representations`));
  check(entries.length > 0, `${file}.representations`, 'representations by id', representations);
  for (const [id, entry] of entries) {
    const field = `${file}.representations.${id}`;
    const { bitrateBps, bytes, quality, seconds, width, height, frameRate, codec } = requireObject(entry, field);
    check(isPositive(bitrateBps), `${field}.bitrateBps`, 'bit/s > 0', bitrateBps);
    for (const [name, number] of Object.entries({ width, height, frameRate })) {
      check(number === undefined || isPositive(number), `${field}.${name}`, 'a number > 0', number);
    }
    check(codec === undefined || typeof codec === 'string', `${field}.codec`, 'text', codec);
    const sizes = requireArray(bytes, `${field}.bytes`);
    for (const [i, size] of sizes.entries()) check(isPositive(size), `${field}.bytes[${i}]`, 'bytes > 0', size);
    for (const [i, one] of (seconds === undefined
      ? []
      : requireArray(seconds, `${field}.seconds`, sizes.length, sizes.length)
    ).entries())
      check(isPositive(one), `${field}.seconds[${i}]`, 'seconds > 0', one);
    const qualities = requireArray(quality, `${field}.quality`, sizes.length, sizes.length);
    for (const [i, one] of qualities.entries())
      check(isFrom(one, 0, 100), `${field}.quality[${i}]`, 'a number from 0 to 100', one);
  }
  return value as QualityFile;
}
