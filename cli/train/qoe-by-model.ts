/** MPC-L's QoE with different models, from results of `leo-abr simulate --fold-models`, one file per model. */

import { InputError } from '../../abr/errors.ts';
import { componentDifference } from '../../replay/evaluation/component-differences.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { parseResults } from '../../replay/evaluation/parse-results.ts';
import { unitsByDataset } from '../../replay/evaluation/resampling-units.ts';
import { summarise } from '../../replay/evaluation/summary.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { Estimate, Results, SessionResult } from '../../replay/results.ts';
import type { Table } from '../report/document.ts';
import { estimateCell, fixed } from '../report/format.ts';
import { readInput } from '../results-file.ts';

/** The algorithm that uses the forecasts. */
const ALGORITHM = 'mpc-l';

export interface QoeByModel {
  scenario: string;
  /** By label of the recordings (`datasetLabels`), in order of appearance. */
  places: Record<string, QoeOfModel[]>;
}

export interface QoeOfModel {
  model: string;
  sessions: number;
  /** Means over sessions; Mbit/s of undisturbed media, and seconds. */
  qoe: number;
  stallSeconds: number;
  /** Mean of the worst 5 % of the sessions. */
  worst5pctStallSeconds: number;
  /** Difference from the first model on the same sessions; null for the first model. */
  difference: { pairs: number; qoe: Estimate; stallSeconds: Estimate } | null;
}

export interface ModelResults {
  model: string;
  /** For error messages. */
  file: string;
  results: Results;
}

/** Each flag is `<model>=<results.json>`. Throws an `InputError` for another form, and for results without MPC-L. */
export function readModelResults(flags: readonly string[], field: string): ModelResults[] {
  return flags.map((flag) => {
    const [, model, file] = /^([^=]+)=(.+)$/.exec(flag) ?? [];
    if (model === undefined || file === undefined) {
      throw new InputError(field, '<model>=<results.json>', flag);
    }
    const results = parseResults(readInput(file, field), file);
    if (!results.sessions.some(({ algorithm }) => algorithm === ALGORITHM)) {
      throw new InputError(placeOf({ file, field: 'sessions' }), `some of ${ALGORITHM}`, undefined, 'none');
    }
    return { model, file, results };
  });
}

/**
 * One entry per scenario. Every model is compared with the first one by pairs of sessions; intervals as in results.
 * `labelOf`: label of a session's recording. Throws an `InputError` if a model lacks the sessions of a label.
 */
export function qoeByModel(given: readonly ModelResults[], labelOf: (session: SessionResult) => string): QoeByModel[] {
  const scenarios = [...new Set(given.map(({ results }) => results.scenario.name))];
  return scenarios.map((name) => {
    const files = given.filter(({ results }) => results.scenario.name === name);
    const [first] = files;
    const { scenario, sessions: all, tool } = first!.results;
    const byPlace = (sessions: readonly SessionResult[]) =>
      groupBy(
        sessions.filter(({ algorithm }) => algorithm === ALGORITHM),
        labelOf,
      );
    const places: QoeByModel['places'] = {};
    for (const [place, against] of byPlace(all)) {
      places[place] = files.map(({ model, file, results }) => {
        const own = byPlace(results.sessions).get(place) ?? [];
        const difference =
          file === first!.file
            ? undefined
            : componentDifference(own, against, {
                scenario,
                ways: unitsByDataset(all),
                seed: tool.seed,
                label: JSON.stringify([place, model]),
              });
        if (difference === undefined && file !== first!.file) {
          throw new InputError(
            placeOf({ file, field: 'sessions' }),
            `those of ${first!.file} on ${place}`,
            undefined,
            'none',
          );
        }
        const [row] = summarise(
          own.map((session) => ({ ...session, dataset: place })),
          { scenario, baseline: ALGORITHM },
        );
        return {
          model,
          sessions: own.length,
          qoe: row!.qoeMean,
          stallSeconds: row!.stallSecondsMean,
          worst5pctStallSeconds: row!.stallSecondsWorst5pct,
          difference: difference
            ? { pairs: difference.pairs, qoe: difference.qoe, stallSeconds: difference.stallSeconds }
            : null,
        };
      });
    }
    return { scenario: name, places };
  });
}

export function qoeTables(all: readonly QoeByModel[]): Table[] {
  return all.map(({ scenario, places }) => ({
    kind: 'table',
    caption: `${scenario}: MPC-L with each model; the others less the first, with 95 % intervals`,
    names: ['recordings', 'model'],
    numbers: ['QoE', 'stall seconds', 'worst 5 % s'],
    rows: Object.entries(places).flatMap(([place, models]) => {
      // QoE on a small ladder needs more digits.
      const digits = Math.abs(models[0]!.qoe) < 5 ? 3 : 2;
      return models.map(({ model, qoe, stallSeconds, worst5pctStallSeconds, difference }) => [
        place,
        model,
        difference === null ? fixed(qoe, digits) : estimateCell(difference.qoe, { digits }),
        difference === null ? fixed(stallSeconds, 2) : estimateCell(difference.stallSeconds, { digits: 2 }),
        fixed(worst5pctStallSeconds, 2),
      ]);
    }),
  }));
}
