/** `leo-abr compare`: says which sessions of two results files chose differently. */

import { Command } from 'commander';
import type { SessionResult } from '../../replay/results.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { EXIT_FAULT, ExitWith } from '../shared/exit-status.ts';
import { readResults } from '../shared/results-file.ts';

const SHOWN_PER_ALGORITHM = 3;

export function compareCommand(io: CommandIo): Command {
  return new Command('compare')
    .description('find the sessions of two results files with different choices; exit status 1 if there are any')
    .argument('<before.json>', 'results of simulate, bench or merge')
    .argument('<after.json>', 'results of the same traces, starts and algorithms')
    .action((before: string, after: string) => {
      const [earlier, later] = [readSessions(before), readSessions(after)];
      const isSame = [...new Set([...earlier.values(), ...later.values()].map(({ algorithm }) => algorithm))]
        .map((algorithm) => isSameFor(algorithm, earlier, later, io))
        .every(Boolean);
      if (!isSame) throw new ExitWith(EXIT_FAULT);
    });
}

type Sessions = ReadonlyMap<string, SessionResult>;

function readSessions(file: string): Sessions {
  return new Map(readResults(file).sessions.map((session) => [keyOf(session), session]));
}

function keyOf({ dataset, trace, startSeconds, algorithm, seed, household }: SessionResult): string {
  const seat = household ? `, player ${household.player} of ${household.name} with ${household.algorithm}` : '';
  return `${algorithm}: ${trace} of ${dataset} from second ${startSeconds}, seed ${seed}${seat}`;
}

function isSameFor(algorithm: string, before: Sessions, after: Sessions, io: CommandIo): boolean {
  const differences: string[] = [];
  let pairs = 0;
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [one, other] = [before.get(key), after.get(key)];
    if ((one ?? other)!.algorithm !== algorithm) continue;
    if (one === undefined || other === undefined) {
      differences.push(`${key}: only in the ${one === undefined ? 'second' : 'first'} file`);
      continue;
    }
    pairs++;
    const at = firstDifference(one, other);
    if (at !== undefined) differences.push(`${key}: segment ${at}: ${choiceOf(one, at)}, then ${choiceOf(other, at)}`);
  }
  io.stdout.write(`${algorithm}: ${pairs} sessions in both, ${differences.length} differ\n`);
  for (const difference of differences.slice(0, SHOWN_PER_ALGORITHM)) io.stdout.write(`  ${difference}\n`);
  return differences.length === 0;
}

function firstDifference(one: SessionResult, other: SessionResult): number | undefined {
  const count = Math.max(one.segments.length, other.segments.length);
  for (let at = 0; at < count; at++) if (choiceOf(one, at) !== choiceOf(other, at)) return at;
  return undefined;
}

function choiceOf({ segments }: SessionResult, at: number): string {
  const segment = segments[at];
  if (segment === undefined) return 'no segment';
  const abandoned = segment.abandonedBits > 0 ? ` after ${segment.abandonedBits} abandoned bits` : '';
  return `${segment.bitrateBps / 1e6} Mbit/s${abandoned}`;
}
