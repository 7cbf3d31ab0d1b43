/** `leo-abr merge`: joins results of one benchmark: shards, or algorithms run one by one. */

import { Command } from 'commander';
import { resultsJson } from '../replay/evaluation/assemble-results.ts';
import { mergeResults, type ResultsFile } from '../replay/evaluation/merge.ts';
import { parseResults } from '../replay/evaluation/parse-results.ts';
import { parseShard } from '../replay/evaluation/plan.ts';
import { summaryTable } from '../replay/evaluation/summary-table.ts';
import type { CommandIo } from './command-io.ts';
import { readInput, requireWritable, STANDARD_OUTPUT, writeOutput } from './results-file.ts';

export function mergeCommand(io: CommandIo): Command {
  return new Command('merge')
    .description('join results: shards, or algorithms run one by one')
    .argument('<results.json...>', 'results of the same scenario and seed')
    .option('--out <file>', 'where the merged results go, - for standard output', STANDARD_OUTPUT)
    .action((files: string[], { out }: { out: string }) => {
      requireWritable(out);
      const read = files.map((file) => ({ file, results: parseResults(readInput(file, 'results'), file) }));
      const missing = missingParts(read);
      for (const part of missing) io.stderr.write(`the merged results are not complete: ${part}\n`);
      const merged = mergeResults(read);
      if (missing.length > 0) merged.tool = { ...merged.tool, complete: false };
      writeOutput(out, resultsJson(merged), io.stdout);
      io.stderr.write(summaryTable(merged.summary));
    });
}

/** Missing shards, and files with partial results. */
function missingParts(files: readonly ResultsFile[]): string[] {
  const missing: string[] = [];
  const shards = new Map<number, Set<number>>();
  for (const { file, results } of files) {
    const { shard, complete } = results.tool;
    if (complete === false) missing.push(`${file} holds partial results`);
    if (shard === undefined) continue;
    const { index, count } = parseShard(shard, 'tool.shard');
    const seen = shards.get(count) ?? new Set();
    shards.set(count, seen.add(index));
  }
  for (const [count, seen] of shards) {
    for (let index = 1; index <= count; index++) {
      if (!seen.has(index)) missing.push(`shard ${index}/${count} is missing`);
    }
  }
  return missing;
}
