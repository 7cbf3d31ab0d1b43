/** The quality of each segment that was played: measured if the scenario has it, else modelled from its bitrate. */

import { type Encoding, modelledQuality, usualDisplayedLines } from '../abr/index.ts';
import type { ResolvedScenario, SegmentRow } from './results.ts';

export type RatedScenario = Pick<ResolvedScenario, 'ladderBps' | 'lines'> &
  Partial<Pick<ResolvedScenario, 'qualities'>>;

/** The pictures that the scenario's bitrates stand for. */
export function encodingsOf({ ladderBps, lines }: Pick<ResolvedScenario, 'ladderBps' | 'lines'>): Encoding[] {
  return ladderBps.map((bitrateBps, r) => {
    const height = lines?.[r];
    return { bitrateBps, ...(height && { width: (height * 16) / 9, height }) };
  });
}

export function qualitiesOf(
  segments: readonly Pick<SegmentRow, 'index' | 'bitrateBps'>[],
  scenario: RatedScenario,
): number[] {
  const { ladderBps, qualities } = scenario;
  const encodings = encodingsOf(scenario);
  const displayedLines = usualDisplayedLines(encodings);
  const modelled = encodings.map((encoding) => modelledQuality({ ...encoding, displayedLines }));
  return segments.map(({ index, bitrateBps }) => (qualities?.[index] ?? modelled)[ladderBps.indexOf(bitrateBps)]!);
}
