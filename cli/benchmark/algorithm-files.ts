/** What results record of the user's files and of the work, so that only results of the same are joined. */

import { createHash } from 'node:crypto';
import type { StartsRule } from '../../replay/evaluation/plan/starts.ts';
import type { OnnxModels } from '../../replay/onnx-model.ts';
import type { OwnAlgorithm } from '../../replay/own-algorithm.ts';
import type { ToolInfo } from '../../replay/results.ts';
import type { ModelsByGroup } from '../../replay/simulator/threads/run-sessions.ts';
import type { Trace } from '../../replay/trace.ts';

/** SHA-256 of the user's files: algorithms and models. */
export function algorithmFiles(
  own: readonly OwnAlgorithm[],
  onnx: OnnxModels | undefined,
): Pick<ToolInfo, 'algorithmFiles'> {
  const models = Object.entries(onnx?.files ?? {}).filter(([name]) => name !== 'onnx');
  const files = [
    ...own.map(({ name, source }) => [name, sha256(source)]),
    ...models.map(([name, bytes]) => [name, sha256(bytes)]),
  ];
  return files.length === 0 ? {} : { algorithmFiles: Object.fromEntries(files) };
}

/** SHA-256 of what the shards of a run must have in common, and the fields of results do not show. */
export function workDigest(
  traces: readonly Trace[],
  { foldModels, ...rest }: { starts: StartsRule; algorithms: readonly string[]; foldModels: ModelsByGroup | undefined },
): string {
  const hash = createHash('sha256').update(JSON.stringify([rest, foldModels ?? null]));
  const names = traces.map(({ name, metadata }) => JSON.stringify([metadata.dataset, name, metadata.recordingGroup]));
  for (const i of [...names.keys()].sort((a, b) => (names[a]! < names[b]! ? -1 : 1))) {
    const { stepEndsSeconds, ratesBps } = traces[i]!;
    hash.update(names[i]!).update(stepEndsSeconds).update(ratesBps);
  }
  return hash.digest('hex');
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
