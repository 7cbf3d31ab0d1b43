/** The results of `leo-abr evaluate` as a document. */

import type { SummaryRow } from '../../replay/results.ts';
import type { ReportDocument, Section, Table } from '../report/document.ts';
import { estimateCell, fixed, signed } from '../report/format.ts';
import { MODEL, type ModelScores, SCORED, SHIPPED, type StepScores } from './model-scores.ts';

export interface Evaluation extends ModelScores {
  schema: 3;
  tool: { name: string; version: string; commit: string | null };
  /** The map of models, and the recordings, as given on the command line. */
  models: string;
  traces: readonly string[];
}

export function evaluationDocument(evaluation: Evaluation): ReportDocument {
  const { tool, models, traces, scenario, starts, forecasts, summary } = evaluation;
  const made = `${tool.name} ${tool.version}${tool.commit === null ? '' : ` (${tool.commit})`}`;
  const section = (id: string, title: string, blocks: Table[]): Section => ({ id, title, level: 2, blocks });
  return {
    title: 'Models, evaluated on recordings left out',
    abstract: [
      `${made}; models of ${models}, each for recordings that it was not trained on; traces: ${traces.join(', ')}.`,
      `Sessions of ${scenario}, starts ${starts}, with MPC-L; one forecast per second is scored.`,
      'Losses are of natural logarithms of rates: 0.1 is about 10 %.',
      'The shipped model may have been trained on these recordings if they are public; its card names its data.',
    ],
    sections: [
      section('qoe', 'QoE', [qoeTable(summary)]),
      ...Object.entries(forecasts).map(([dataset, scores], i) =>
        section(`data-${i + 1}`, dataset, [scoresTable(scores, evaluation)]),
      ),
    ],
  };
}

function qoeTable(summary: readonly SummaryRow[]): Table {
  return {
    kind: 'table',
    caption: `MPC-L with each model; in brackets 95 % intervals of the difference from the ${SHIPPED}.`,
    names: ['recordings', 'forecasts of'],
    numbers: ['sessions', 'QoE', 'stalls, s', 'worst 5 %, s', 'QoE, difference', 'worst 5 %, difference'],
    rows: summary.map(({ dataset, algorithm, sessions, vsBaseline, ...row }) => [
      ...[dataset, algorithm, String(sessions)],
      ...[fixed(row.qoeMean, 2), fixed(row.stallSecondsMean, 2), fixed(row.stallSecondsWorst5pct, 2)],
      estimateCell(vsBaseline?.qoeDiff, { digits: 2 }),
      estimateCell(vsBaseline?.worst5pctDiff, { digits: 2 }),
    ]),
  };
}

function scoresTable(scores: StepScores, { stepEndsSeconds }: ModelScores): Table {
  const { pinball } = scores;
  const against = pinball[MODEL].map((loss, step) => `${signed(100 * (loss / pinball[SHIPPED][step]! - 1), 1)} %`);
  return {
    kind: 'table',
    caption: `${scores.forecasts} forecasts, in numbers.`,
    names: ['score'],
    numbers: stepEndsSeconds.map((end, step) => `${stepEndsSeconds[step - 1] ?? 0}–${end} s`),
    rows: [
      ...SCORED.map((name) => [`pinball loss, ${name}`, ...pinball[name].map((loss) => fixed(loss, 4))]),
      [`pinball loss, ${MODEL} against ${SHIPPED}`, ...against],
    ],
  };
}
