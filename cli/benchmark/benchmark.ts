/** A fully specified benchmark: what is played, and where its results go. */

import type { BenchmarkPlan, PlannedSession } from '../../replay/evaluation/plan/plan.ts';
import type { Household } from '../../replay/households.ts';
import type { OnnxModels } from '../../replay/onnx-model.ts';
import type { OwnAlgorithm } from '../../replay/own-algorithm.ts';
import type { ResolvedScenario, SessionResult, ToolInfo } from '../../replay/results.ts';
import type { ModelsByGroup } from '../../replay/simulator/threads/run-sessions.ts';

export interface Benchmark {
  scenario: ResolvedScenario;
  household: Household | undefined;
  algorithms: readonly string[];
  own: readonly OwnAlgorithm[];
  onnx: OnnxModels | undefined;
  plan: BenchmarkPlan;
  /** Number of sessions that one line of the plan plays: the players of a household, else 1. */
  perLine: number;
  /** Finished sessions that `--resume` found in `out`. */
  done: SessionResult[];
  /** Lines of the plan that are left to play. */
  remains: PlannedSession[];
  timings: boolean;
  /** Whether the table has all columns. */
  wide: boolean;
  foldModels: ModelsByGroup | undefined;
  tool: ToolInfo;
  /** `tool` of the partial results that `--resume` continues. */
  resumedTool?: ToolInfo;
  /** A file, or `-` for standard output. If it is undefined, the command prints only the table. */
  out: string | undefined;
}
