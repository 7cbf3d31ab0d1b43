/** `leo-abr merge`: joins results of one benchmark: shards, or algorithms run one by one. */

import { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import { benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { resultsPieces } from '../../replay/evaluation/documents/assemble-results.ts';
import { mergeResults, type ResultsFile } from '../../replay/evaluation/documents/merge.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { parseShard } from '../../replay/evaluation/plan/plan.ts';
import type { ToolInfo } from '../../replay/results.ts';
import { summaryTable } from '../report/summary-table.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { WIDE } from '../shared/options.ts';
import { printTable, readResults, requireWritable, writeOutput } from '../shared/results-file.ts';

export function mergeCommand(io: CommandIo): Command {
  return new Command('merge')
    .description('join results: shards, or algorithms run one by one; all parts of a run are needed')
    .argument('<results.json...>', 'results of the same scenario and seed')
    .option('--out <file>', 'where the merged results go, - for standard output (default: only the table is printed)')
    .option('--baseline <algorithm>', 'algorithm that the summary compares with, instead of that of the results')
    .option('--wide', WIDE)
    .action((files: string[], { out, baseline, wide = false }: { out?: string; baseline?: string; wide?: boolean }) => {
      requireWritable(out, 'results');
      const read = files.map((file) => {
        const { tool, ...results } = readResults(file, { allowPartial: true });
        return { file, results: { ...results, tool: baseline === undefined ? tool : { ...tool, baseline } } };
      });
      const faults = [...missingParts(read), ...mixedShards(read)];
      if (faults.length > 0) throw new InputError('results', 'all parts of one run', undefined, faults.join('; '));
      const merged = mergeResults(read);
      const isKnown = baseline === undefined || merged.sessions.some(({ algorithm }) => algorithm === baseline);
      check(isKnown, '--baseline', 'an algorithm of the results', baseline);
      const twice = read.reduce((sum, { results }) => sum + results.sessions.length, 0) - merged.sessions.length;
      if (twice > 0) io.stderr.write(`${twice} sessions were played twice, with the same result\n`);
      if (out !== undefined) writeOutput(out, resultsPieces(merged), io.stdout);
      printTable(summaryTable(merged, { wide }), out, io);
    });
}

function missingParts(files: readonly ResultsFile[]): string[] {
  const partial = files
    .filter(({ results }) => results.tool['complete'] === false)
    .map(({ file, results }) => `${file} is not complete (${results.sessions.length} sessions)`);
  const shards = files.flatMap(({ results }) => results.tool.shard ?? []);
  const counts = files.flatMap(({ file, results: { tool } }) =>
    tool.shard ? parseShard(tool.shard, `${file}: tool.shard`).count : [],
  );
  const missing = [...new Set(counts)].flatMap((count) =>
    Array.from({ length: count }, (_, i) => `${i + 1}/${count}`).filter((shard) => !shards.includes(shard)),
  );
  return [...partial, ...missing.map((shard) => `shard ${shard} is missing`)];
}

/** Names shards of another run than the first shard. `mergeResults` refuses other scenarios, seeds and commands. */
function mixedShards(files: readonly ResultsFile[]): string[] {
  const [first, ...others] = files.filter(({ results }) => results.tool.shard !== undefined);
  const expected = first && commonOf(first.results.tool);
  return others.flatMap(({ file, results }) =>
    Object.entries(commonOf(results.tool))
      .filter(([what, value]) => !sameJson(value, expected![what]))
      .map(([what]) => `${file} has another ${what} than ${first!.file}`),
  );
}

function commonOf(tool: ToolInfo): Record<string, unknown> {
  const bench = benchNotesOf(tool);
  return {
    version: tool.version,
    commit: tool.commit,
    'set of recordings, starts, algorithms or models': [tool.work, tool.algorithmFiles],
    tier: bench && [bench.tier, bench.kernel],
    'tolerated share of late downloads': bench?.lateShare,
  };
}
