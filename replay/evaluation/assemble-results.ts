/** From the sessions of a benchmark to its results document, and to the document's bytes. */

import type { ResolvedScenario, Results, SessionResult, ToolInfo } from '../results.ts';
import { orderSessions } from './plan.ts';
import { summarise } from './summary.ts';

/** Sessions in the plan's order and their summary; `algorithms` as on the command line (default: as they appear). */
export function assembleResults(options: {
  tool: ToolInfo;
  scenario: ResolvedScenario;
  sessions: readonly SessionResult[];
  algorithms?: readonly string[];
}): Results {
  const { tool, scenario, algorithms } = options;
  const sessions = orderSessions(options.sessions, algorithms);
  const summary = summarise(sessions, { scenario, baseline: tool.baseline, seed: tool.seed });
  return { schema: 1, tool, scenario, sessions, summary };
}

/** The document as it is written: a line per session and per row of the summary, the same bytes for the same values. */
export function resultsJson(results: Results): string {
  const lines = (items: readonly unknown[]) =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
  return `{"schema":${results.schema},
"tool":${JSON.stringify(results.tool)},
"scenario":${JSON.stringify(results.scenario)},
"sessions":${lines(results.sessions)},
"summary":${lines(results.summary)}}
`;
}
