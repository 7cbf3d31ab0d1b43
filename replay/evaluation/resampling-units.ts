/** What the bootstrap resamples: the recording groups of a data set, or its recordings where it has few groups. */

import type { ResampledBy, SessionResult } from '../results.ts';

/** A data set of fewer groups is resampled by its recordings. */
export const FEWEST_GROUPS = 8;

type Place = Pick<SessionResult, 'dataset' | 'trace' | 'group'>;

/** How a data set is resampled. */
export interface DatasetUnits {
  resampledBy: 'groups' | 'recordings';
  nameOf(session: Place): string;
}

/** The units of sessions, numbered from 0 to `unitCount - 1`. */
export interface ResamplingUnits {
  /** Throws a `RangeError` for a session of a unit that there is not. */
  unitOf(session: Place): number;
  unitCount: number;
  resampledBy: ResampledBy;
}

/** The way of each data set: decided by all of its sessions, so that parts of them are resampled alike. */
export function unitsByDataset(sessions: readonly Place[]): Map<string, DatasetUnits> {
  const groups = new Map<string, Set<string>>();
  for (const { dataset, group } of sessions) {
    const known = groups.get(dataset);
    if (known === undefined) groups.set(dataset, new Set([group]));
    else known.add(group);
  }
  return new Map(
    [...groups].map(([dataset, { size }]): [string, DatasetUnits] => [
      dataset,
      size >= FEWEST_GROUPS
        ? { resampledBy: 'groups', nameOf: ({ group }) => group }
        : { resampledBy: 'recordings', nameOf: ({ trace }) => recordingOf(trace) },
    ]),
  );
}

/** Numbers the units of these sessions, in order of appearance; `ways` as `unitsByDataset` gives them. */
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

/** Parts `#1`, `#2` ... of a trace that was split at its gaps are one recording. */
function recordingOf(trace: string): string {
  return trace.replace(/#\d+$/, '');
}
