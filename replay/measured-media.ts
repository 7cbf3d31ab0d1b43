/** The media of a scenario from a `quality.json`: real sizes and measured qualities. Browser-safe. */

import { InputError } from '../abr/errors.ts';
import { placeOf } from './formats/place.ts';
import { parseQuality } from './quality-file.ts';
import type { ResolvedScenario } from './results.ts';

export type MeasuredMedia = Required<
  Pick<ResolvedScenario, 'ladderBps' | 'segmentSeconds' | 'segmentSizesBits' | 'qualities'>
>;

/**
 * The representations by bitrate, and the segments that all of them have. `file` is for messages.
 * @throws {InputError} with file and field, also for a bitrate that two representations have.
 */
export function measuredMedia(value: unknown, file: string): MeasuredMedia {
  const { representations, segmentSeconds } = parseQuality(value, file);
  const ladder = Object.values(representations).sort((a, b) => a.bitrateBps - b.bitrateBps);
  const ladderBps = ladder.map(({ bitrateBps }) => bitrateBps);
  const twice = ladderBps.find((bps, i) => bps === ladderBps[i + 1]);
  if (twice !== undefined) {
    throw new InputError(
      placeOf({ file, field: 'representations' }),
      'different bitrates',
      undefined,
      `${twice} twice`,
    );
  }
  const segmentCount = Math.min(...ladder.map(({ bytes }) => bytes.length));
  const rows = (of: (one: (typeof ladder)[number], index: number) => number) =>
    Array.from({ length: segmentCount }, (_, index) => ladder.map((one) => of(one, index)));
  return {
    ...{ ladderBps, segmentSeconds },
    segmentSizesBits: rows(({ bytes }, index) => bytes[index]! * 8),
    qualities: rows(({ quality }, index) => quality[index]!),
  };
}
