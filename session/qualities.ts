/** The qualities of the representations, and the prices, that a controller plans on. */

import { perceivedWeights } from '../abr/qoe/perceived-qoe.ts';
import { bitrateWeights, type Objective, type QoeWeights } from '../abr/qoe/qoe.ts';
import { modelledQuality, usualDisplayedLines } from '../abr/qoe/quality.ts';
import type { Representation, Situation } from './player-port.ts';

export type Pictures = Pick<Situation, 'ladder' | 'displayedLines' | 'live'>;

/** Returns `objectiveWeights` as a function that computes only when the pictures have changed. */
export function weightsOfPictures(objective: Objective, pricePerMbps: number): (pictures: Pictures) => QoeWeights {
  let known: Pictures | undefined;
  let weights: QoeWeights;
  return ({ ladder, displayedLines, live }) => {
    if (!known || displayedLines !== known.displayedLines || !live !== !known.live || !isSame(ladder, known.ladder)) {
      known = { ladder, displayedLines, live };
      weights = objectiveWeights(objective, known, pricePerMbps);
    }
    return weights;
  };
}

const isSame = (a: readonly Representation[], b: readonly Representation[]) =>
  a === b || (a.length === b.length && a.every((one, r) => PICTURE.every((field) => one[field] === b[r]![field])));
const PICTURE = ['bitrateBps', 'width', 'height', 'frameRate', 'codec', 'score'] as const;

/** `pricePerMbps`: points of quality that a Mbit/s must add; `perceived` alone has it. */
export function objectiveWeights(objective: Objective, pictures: Pictures, pricePerMbps = 0): QoeWeights {
  const { ladder, live } = pictures;
  if (objective !== 'perceived' || isAudio(ladder)) {
    return bitrateWeights(
      objective === 'log' ? 'log' : 'linear',
      ladder.map(({ bitrateBps }) => bitrateBps),
    );
  }
  const { displayedLines = usualDisplayedLines(ladder) } = pictures;
  const qualities = ladderQualities(ladder, displayedLines);
  const byBitrate = new Map(ladder.map(({ bitrateBps }, r) => [bitrateBps, qualities[r]!]));
  const qualityOf = (bitrateBps: number) =>
    byBitrate.get(bitrateBps) ?? modelledQuality({ bitrateBps, displayedLines });
  return perceivedWeights(qualityOf, { pricePerMbps, isLive: live !== undefined });
}

/** A stream of audio alone has no pictures to model; its top bitrate is below every video's. */
const isAudio = (ladder: readonly Representation[]) =>
  ladder.every(({ width, bitrateBps }) => !width && bitrateBps <= MOST_AUDIO_BPS);
const MOST_AUDIO_BPS = 400e3;

/**
 * Qualities by the model, in the order that the stream declares. If all representations have a `SCORE`, the scores spread
 * the qualities between the lowest and the highest. If all have a rank, the qualities change places.
 */
export function ladderQualities(ladder: readonly Representation[], displayedLines: number | undefined): number[] {
  const modelled = ladder.map((one) => modelledQuality({ ...one, displayedLines }));
  const scores = ladder.map(({ score = 0 }) => score);
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  if (least === most || scores.includes(0)) return modelled;
  const ascending = [...modelled].sort((a, b) => a - b);
  const [lowest, highest] = [ascending[0]!, ascending[ascending.length - 1]!];
  const order = [...scores].sort((a, b) => a - b);
  return scores.map((score) =>
    score > 0 ? lowest + ((score - least) / (most - least)) * (highest - lowest) : ascending[order.lastIndexOf(score)]!,
  );
}
