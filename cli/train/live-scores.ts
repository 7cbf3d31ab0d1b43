/**
 * Calibration of forecasts within a second: where the bits of the next tenths of a second to seconds lie among
 * futures as MPC-L draws them at the live edge, at the decisions of simulated live sessions.
 */

import { createController } from '../../abr/index.ts';
import { LinkFutures } from '../../abr/mpc-l/live/link-futures.ts';
import { createBuiltInForecaster } from '../../predictor/built-in/built-in-forecaster.ts';
import type { Model } from '../../predictor/built-in/model-file.ts';
import { SubSecond } from '../../predictor/sub-second.ts';
import { planBenchmark } from '../../replay/evaluation/plan.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { linkOf } from '../../replay/simulator/session-setup.ts';
import { type DecisionRecord, simulateSession } from '../../replay/simulator/simulate-session.ts';
import { type Trace, wrapSeconds } from '../../replay/trace.ts';
import { type Watched, watched } from '../progress.ts';
import type { Table } from '../report/document.ts';
import { percent } from '../report/format.ts';
import { datasetLabels } from './training-rows.ts';

/**
 * In seconds after a decision. The second one shows the spread of 0.1 s without a bias: decisions follow the end of a
 * download, thus a moment when the link delivers.
 */
const SPANS = [
  [0, 0.1],
  [0.5, 0.6],
  [0, 0.5],
  [0, 1],
  [0, 2],
] as const;
const LEVELS = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9];
/** Does not use the forecast, so that sessions are the same for each. */
const ALGORITHM = 'throughput';
const STARTS = { everySeconds: 122 };
/** Ten times MPC-L's, so that the table scores forecasts and not the draw. */
const FUTURES = 240;
/** Decisions count from this session second on. */
const FROM_SECONDS = 20;

export interface LiveScoresOptions extends Watched {
  traces: readonly Trace[];
  /** Of a live stream. */
  scenario: ResolvedScenario;
  /** The model for a recording group. Default: the shipped one. */
  modelOf: ((group: string) => Model) | undefined;
}

/** Shares of outcomes below each quantile, by data set and span; a calibrated forecast has the levels themselves. */
export async function scoreLiveForecasts(options: LiveScoresOptions): Promise<Table> {
  const { traces, scenario, modelOf } = options;
  const labels = datasetLabels(traces);
  const { sessions } = planBenchmark({ traces, scenario, starts: STARTS, algorithms: [ALGORITHM], seed: 1 });
  const link = new LinkFutures(FUTURES, 1);
  /** `[span][level]` */
  const tallies = new Map<string, { decisions: number; below: number[][] }>();
  for await (const { trace, startSeconds, segmentCount, seed } of watched(sessions, options)) {
    const label = labels.get(trace)!;
    const tally = tallies.get(label) ?? { decisions: 0, below: SPANS.map(() => LEVELS.map(() => 0)) };
    tallies.set(label, tally);
    const path = linkOf(trace, scenario).from(startSeconds);
    const untilSeconds = wrapSeconds(trace) - startSeconds - Math.max(...SPANS.map(([, to]) => to));
    const onDecision = ({ asked, state, forecast }: DecisionRecord) => {
      const { nowSeconds } = state;
      if (asked !== 'decide' || forecast === undefined || nowSeconds < FROM_SECONDS || nowSeconds > untilSeconds)
        return;
      link.draw(state, forecast);
      tally.decisions++;
      for (const [s, [from, to]] of SPANS.entries()) {
        const bits = path.cumulativeBits(nowSeconds + to) - path.cumulativeBits(nowSeconds + from);
        let rank = 0;
        for (let future = 0; future < link.paths.count; future++) {
          if (link.paths.bitsUntil(future, to) - link.paths.bitsUntil(future, from) < bits) rank++;
        }
        // The futures divide the probability into equal shares; the outcome is anywhere in its share.
        for (const [i, level] of LEVELS.entries()) {
          tally.below[s]![i]! += Math.min(1, Math.max(0, level * (link.paths.count + 1) - rank));
        }
      }
    };
    simulateSession({
      ...{ trace, scenario, startSeconds, segmentCount, seed, onDecision },
      controller: createController(ALGORITHM, { seed }),
      forecaster: createBuiltInForecaster({
        ...(modelOf && { model: modelOf(trace.metadata.recordingGroup) }),
        newSubSecond: () => new SubSecond(),
      }),
    });
  }
  return {
    kind: 'table',
    caption: `Share of outcomes below each quantile of the bits of a span after a decision, in sessions of ${scenario.name}`,
    names: ['data set', 'seconds'],
    numbers: ['decisions', ...LEVELS.map((level) => percent(level, 0))],
    rows: [...tallies].flatMap(([label, { decisions, below }]) =>
      SPANS.map(([from, to], s) => [
        ...[label, `${from}–${to}`, String(decisions)],
        ...below[s]!.map((count) => percent(count / decisions, 1)),
      ]),
    ),
  };
}
