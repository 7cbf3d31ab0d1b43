/** The bootstrap's units: the recording groups of a data set, or its recordings if it has few groups. */

import type { ResampledBy, SessionResult } from '../results.ts';
import { groupBy } from './group-by.ts';

/** A data set with fewer groups is resampled by recordings. */
const FEWEST_GROUPS = 8;

type Place = Pick<SessionResult, 'dataset' | 'trace' | 'group'>;

/** How a data set is resampled. */
export interface DatasetUnits {
  resampledBy: 'groups' | 'recordings';
  nameOf(session: Place): string;
}

/** The units of sessions, numbered from 0 to `unitCount - 1`. */
interface ResamplingUnits {
  /** Throws a `RangeError` for a session of an unknown unit. */
  unitOf(session: Place): number;
  unitCount: number;
  resampledBy: ResampledBy;
}

/** The kind of units of each data set. Pass all sessions, so that subsets are resampled by the same kind. */
export function unitsByDataset(sessions: readonly Place[]): Map<string, DatasetUnits> {
  return new Map(
    [...groupBy(sessions, ({ dataset }) => dataset)].map(([dataset, members]): [string, DatasetUnits] => [
      dataset,
      new Set(members.map(({ group }) => group)).size >= FEWEST_GROUPS
        ? { resampledBy: 'groups', nameOf: ({ group }) => group }
        : { resampledBy: 'recordings', nameOf: ({ trace }) => recordingOf(trace) },
    ]),
  );
}

/** Numbers the units of these sessions, in order of appearance; `ways` is the result of `unitsByDataset`. */
export function resamplingUnits(
  sessions: readonly Place[],
  ways: ReadonlyMap<string, DatasetUnits> = unitsByDataset(sessions),
): ResamplingUnits {
  const nameOf = (session: Place) => JSON.stringify([session.dataset, ways.get(session.dataset)!.nameOf(session)]);
  const numbers = new Map<string, number>();
  const kinds = new Set<DatasetUnits['resampledBy']>();
  for (const session of sessions) {
    const name = nameOf(session);
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    kinds.add(ways.get(session.dataset)!.resampledBy);
  }
  return {
    unitOf(session) {
      const number = numbers.get(nameOf(session));
      if (number === undefined) throw new RangeError(`no unit for ${session.trace} of ${session.dataset}`);
      return number;
    },
    unitCount: numbers.size,
    resampledBy: kinds.size > 1 ? 'mixed' : ([...kinds][0] ?? 'recordings'),
  };
}

/** The parts `#1`, `#2` ... of a split trace are one recording. */
function recordingOf(trace: string): string {
  return trace.replace(/#\d+$/, '');
}
