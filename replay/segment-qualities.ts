/** The quality of each segment that was played: measured if the scenario has it, else modelled from its bitrate. */

import { modelledQuality, usualDisplayedLines } from '../abr/index.ts';
import type { ResolvedScenario, SegmentRow } from './results.ts';

export type RatedScenario = Pick<ResolvedScenario, 'ladderBps'> & Partial<Pick<ResolvedScenario, 'qualities'>>;

export function qualitiesOf(
  segments: readonly Pick<SegmentRow, 'index' | 'bitrateBps'>[],
  { ladderBps, qualities }: RatedScenario,
): number[] {
  const displayedLines = usualDisplayedLines(ladderBps.map((bitrateBps) => ({ bitrateBps })));
  const modelled = ladderBps.map((bitrateBps) => modelledQuality({ bitrateBps, displayedLines }));
  return segments.map(({ index, bitrateBps }) => (qualities?.[index] ?? modelled)[ladderBps.indexOf(bitrateBps)]!);
}
