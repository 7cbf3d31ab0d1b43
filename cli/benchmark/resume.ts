/** `--resume`: continues the partial results of an interrupted run of the same command. */

import { existsSync } from 'node:fs';
import { describeValue, InputError } from '../../abr/errors.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { type BenchmarkPlan, resumePlan } from '../../replay/evaluation/plan/plan.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { Output } from '../shared/command-io.ts';
import { readResults } from '../shared/results-file.ts';
import type { Benchmark } from './benchmark.ts';

/** Splits the plan into the sessions that an interrupted run of this command finished and those to play. */
export function resumed(
  plan: BenchmarkPlan,
  perLine: number,
  { out: file, scenario, tool, stderr }: Pick<Benchmark, 'scenario' | 'tool'> & { out: string; stderr: Output },
): Pick<Benchmark, 'done' | 'remains' | 'resumedTool'> | undefined {
  if (!existsSync(file)) {
    stderr.write(`nothing to resume in ${file} yet\n`);
    return undefined;
  }
  const results = readResults(file, { flag: '--out', allowPartial: true });
  for (const field of ['command', 'version', 'commit', 'algorithmFiles', 'shard', 'work'] as const) {
    if (sameJson(results.tool[field], tool[field])) continue;
    throw new InputError(
      placeOf({ file, field: `tool.${field}` }),
      `${describeValue(tool[field])}: sessions of another program, shard or set of recordings do not belong in this file`,
      results.tool[field],
    );
  }
  const { done, remains } = resumePlan(plan.sessions, { file, results }, scenario);
  const total = done.length + remains.length * perLine;
  stderr.write(`${done.length} of ${total} sessions were done before`);
  stderr.write(remains.length > 0 ? '; those that were under way are played again\n' : '\n');
  return { done, remains, resumedTool: results.tool };
}
