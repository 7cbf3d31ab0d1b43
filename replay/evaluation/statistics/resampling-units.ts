/** The bootstrap's units: the recording groups of a data set, or its recordings if it has few groups. */

import type { ResampledBy, SessionResult } from '../../results.ts';
import { groupBy } from '../group-by.ts';

/** A data set with fewer groups is resampled by recordings. */
const FEWEST_GROUPS = 8;

type LinkPlace = Pick<SessionResult, 'dataset' | 'trace' | 'group'>;

export interface DatasetUnits {
  resampledBy: 'groups' | 'recordings';
  nameOf(session: LinkPlace): string;
}

/** The units of each data set. Pass all sessions, so that subsets are resampled by the same units. */
export function unitsByDataset(sessions: readonly LinkPlace[]): Map<string, DatasetUnits> {
  const byGroup: DatasetUnits = { resampledBy: 'groups', nameOf: ({ group }) => group };
  // The parts `#1`, `#2` ... of a split trace are one recording.
  const byRecording: DatasetUnits = { resampledBy: 'recordings', nameOf: ({ trace }) => trace.replace(/#\d+$/, '') };
  const ways = Array.from(
    groupBy(sessions, ({ dataset }) => dataset),
    ([dataset, members]) => {
      const groups = new Set(members.map(({ group }) => group));
      return [dataset, groups.size >= FEWEST_GROUPS ? byGroup : byRecording] as const;
    },
  );
  return new Map(ways);
}

/** Numbers these sessions' units in order of appearance. `ways` comes from `unitsByDataset`. */
export function resamplingUnits(sessions: readonly LinkPlace[], ways: ReadonlyMap<string, DatasetUnits>) {
  const nameOf = (session: LinkPlace) => JSON.stringify([session.dataset, ways.get(session.dataset)!.nameOf(session)]);
  const numbers = new Map([...new Set(sessions.map(nameOf))].map((name, number) => [name, number]));
  const kinds = [...new Set(sessions.map(({ dataset }) => ways.get(dataset)!.resampledBy))];
  const resampledBy: ResampledBy = kinds.length > 1 ? 'mixed' : (kinds[0] ?? 'recordings');
  return {
    unitOf: (session: LinkPlace): number => numbers.get(nameOf(session))!,
    unitCount: numbers.size,
    resampledBy,
  };
}
