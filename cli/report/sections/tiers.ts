/** Simulator against browser, if the files hold both tiers of a scenario. */

import { sameJson } from '../../../replay/evaluation/same-json.ts';
import { tierAgreement } from '../../../replay/evaluation/tier-agreement.ts';
import type { Block } from '../document.ts';
import { estimateCell, fixed, percent } from '../format.ts';
import type { Run } from '../runs.ts';

/** The blocks of each pair of runs with common sessions; empty without a pair. */
export function tierBlocks(runs: readonly Run[]): Block[] {
  return (
    runs
      // The agreement is of on-demand QoE and startup.
      .filter(({ isSimulated, scenario }) => isSimulated && scenario.live === undefined)
      .flatMap((simulator) =>
        runs
          .filter(({ isSimulated, scenario }) => !isSimulated && sameJson(scenario, simulator.scenario))
          .flatMap((browser) => pairBlocks(simulator, browser)),
      )
  );
}

function pairBlocks(simulator: Run, browser: Run): Block[] {
  const agreement = tierAgreement(simulator.results.sessions, browser.results.sessions, browser.results.tool.seed);
  if (agreement.length === 0) return [];
  const { digits } = browser;
  const title = `${browser.scenarioLabel}, ${browser.tier} against simulator`;
  return [
    {
      kind: 'table',
      caption:
        `${title}: sessions that ended normally in both. ` +
        'Differences are browser minus simulator, with 95 % intervals.',
      names: ['algorithm'],
      numbers: ['n', 'QoE, browser', 'QoE, simulator', 'difference', 'stalls, s', 'startup, s', 'same representation'],
      rows: agreement.map((row) => [
        row.algorithm,
        String(row.sessions),
        fixed(row.browserQoe, digits),
        fixed(row.simulatorQoe, digits),
        estimateCell(row.qoeDiff, { digits }),
        estimateCell(row.stallSecondsDiff, { digits: 2 }),
        estimateCell(row.startupSecondsDiff, { digits: 2 }),
        percent(row.sameRepresentation.value, 1),
      ]),
    },
  ];
}
