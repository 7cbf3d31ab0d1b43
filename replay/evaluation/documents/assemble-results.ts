/** Builds the results document of a benchmark, and writes it as JSON. */

import type { ResolvedScenario, Results, SessionResult, ToolInfo } from '../../results.ts';
import { householdsOf } from '../figures/household-figures.ts';
import { orderSessions } from '../plan/plan.ts';
import { summarise, summariseByLink } from '../summary.ts';

/** In the plan's order, with a summary. `algorithms` gives their order (default: appearance). */
export function assembleResults(options: {
  tool: ToolInfo;
  scenario: ResolvedScenario;
  sessions: readonly SessionResult[];
  algorithms?: readonly string[];
}): Results {
  const { tool, scenario, algorithms } = options;
  const sessions = orderSessions(options.sessions, algorithms);
  const summaryOptions = { scenario, baseline: tool.baseline, seed: tool.seed };
  const byLink = summariseByLink(sessions, summaryOptions);
  const households = householdsOf(sessions, scenario);
  return {
    schema: scenario.live === undefined ? 1 : 2,
    tool,
    scenario,
    sessions,
    ...(households.length > 0 && { households }),
    summary: summarise(sessions, summaryOptions),
    ...(byLink.length > 0 && { byLink }),
  };
}

/** The document as JSON, with a line per session and per row of the summary. Equal values give equal bytes. */
export function resultsJson(results: Results): string {
  return [...resultsPieces(results)].join('');
}

/** `resultsJson` in pieces, because the whole may be longer than a string can be. */
export function* resultsPieces(results: Results): Generator<string> {
  yield headJson(results);
  for (const [n, name] of (['sessions', 'households', 'summary', 'byLink'] as const).entries()) {
    const items: readonly unknown[] | undefined = results[name];
    if (items === undefined) continue;
    yield `${n === 0 ? '' : ',\n'}"${name}":[`;
    for (const [i, item] of items.entries()) yield `${i === 0 ? '\n' : ',\n'}${JSON.stringify(item)}`;
    yield items.length === 0 ? ']' : '\n]';
  }
  yield '}\n';
}

/** The beginning of partial results, behind which `SessionStore` appends sessions; `parseResults` reads them. */
export function partialHeadJson({ tool, scenario }: Pick<Results, 'tool' | 'scenario'>): string {
  const schema = scenario.live === undefined ? 1 : 2;
  return `${headJson({ schema, tool: { ...tool, complete: false }, scenario })}"sessions":[\n`;
}

function headJson({ schema, tool, scenario }: Pick<Results, 'schema' | 'tool' | 'scenario'>): string {
  return `{"schema":${schema},
"tool":${JSON.stringify(tool)},
"scenario":${JSON.stringify(scenario)},
`;
}
