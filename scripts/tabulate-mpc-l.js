/**
 * `node scripts/tabulate-mpc-l.js [--ingredients] <results.json>...`: prints, as Markdown, what mpc-l comes to against mpc-d
 * in results of `leo-abr simulate`, per scenario and data set (sat-vs-cell also by transport); with --ingredients what each of
 * them is worth: mpc-l less its ablation, component by component. docs/mpc-l.md has the outcome. With --models, what mpc-l
 * comes to with other models: the first file of a scenario is compared with, the others are named after their files
 * (docs/predictors.md).
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledSources } from './bundled-sources.js';

const { values, positionals } = parseArgs({
  options: { ingredients: { type: 'boolean', default: false }, models: { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (positionals.length === 0) {
  console.error('usage: node scripts/tabulate-mpc-l.js [--ingredients | --models] <results.json>...');
  process.exit(2);
}

const { summarise, componentDifference, unitsByDataset } = await bundledSources('replay/evaluation/index.ts');
const files = positionals.map((file) => ({ file, ...JSON.parse(readFileSync(file, 'utf8')) }));
const each = (toRows) =>
  files.flatMap(({ scenario, sessions }) =>
    [...places(sessions)].flatMap(([place, members]) => toRows(scenario, place, members)),
  );
const table = values.models
  ? { header: ['scenario', 'recordings', 'model', 'QoE', 'stall seconds', 'worst 5 % s'], rows: modelRows() }
  : values.ingredients
    ? {
        header: [
          'scenario',
          'recordings',
          'mpc-l less',
          'QoE',
          'of the top bitrate',
          'stall seconds',
          'startup seconds',
        ],
        rows: each(ingredientRows),
      }
    : {
        header: [
          'scenario',
          'recordings',
          'sessions',
          'algorithm',
          'QoE',
          'ratio',
          'gap closed',
          'stall s',
          'worst 5 % s',
          'against mpc-d',
          'severe',
        ],
        rows: each(resultRows),
      };
for (const row of [table.header, table.header.map(() => '---'), ...table.rows]) console.log(`| ${row.join(' | ')} |`);

/** Sessions by data set; those of sat-vs-cell by transport as well, since the two see different links. */
function places(sessions) {
  const found = new Map();
  const add = (place, session) => found.set(place, [...(found.get(place) ?? []), session]);
  for (const session of sessions) {
    const transport = /-(udp|tcp)-/.exec(session.trace)?.[1];
    if (transport) add(`${session.dataset} ${transport.toUpperCase()}`, session);
    add(session.dataset, session);
  }
  return found;
}

function resultRows(scenario, place, sessions) {
  return summarise(sessions, { scenario, baseline: 'mpc-d', seed: 1 }).map((row) => {
    const against = row.vsBaseline;
    return [
      scenario.name,
      place,
      row.sessions,
      row.algorithm,
      row.qoeMean.toFixed(2),
      estimate(against?.qoeMeanRatio, 3),
      row.algorithm === 'mpc-o' ? '1' : estimate(against?.oracleGapClosed, 2),
      row.stallSecondsMean.toFixed(2),
      row.stallSecondsWorst5pct.toFixed(2),
      estimate(against?.worst5pctDiff, 2),
      `${(100 * row.severeShare).toFixed(1)} %`,
    ];
  });
}

function ingredientRows(scenario, place, sessions) {
  const of = (name) => sessions.filter(({ algorithm }) => algorithm === name);
  const ablations = [...new Set(sessions.map(({ algorithm }) => algorithm))].filter((name) =>
    name.startsWith('mpc-l:no-'),
  );
  const top = scenario.ladderBps.at(-1) / 1e6;
  return ablations.map((name) => {
    const { qoe, stallSeconds, startupSeconds } = componentDifference(of('mpc-l'), of(name), {
      scenario,
      ways: unitsByDataset(sessions),
      seed: 1,
      label: `${place} ${name}`,
    });
    return [
      scenario.name,
      place,
      name,
      estimate(qoe, top > 10 ? 2 : 3),
      `${((100 * qoe.value) / top).toFixed(2)} %`,
      estimate(stallSeconds, 2),
      estimate(startupSeconds, 2),
    ];
  });
}

/** MPC-L with the other models less MPC-L with the first, file by file of the same scenario. */
function modelRows() {
  const ofMpcL = (sessions) => sessions.filter(({ algorithm }) => algorithm === 'mpc-l');
  return [...new Set(files.map(({ scenario }) => scenario.name))].flatMap((name) => {
    const [first, ...others] = files.filter(({ scenario }) => scenario.name === name);
    const { scenario } = first;
    return [...places(ofMpcL(first.sessions))].flatMap(([place, reference]) => {
      const worst = (sessions) =>
        summarise(sessions, { scenario, baseline: 'mpc-l', seed: 1 })[0].stallSecondsWorst5pct.toFixed(2);
      const own = (component) => reference.reduce((sum, session) => sum + component(session), 0) / reference.length;
      const digits = scenario.ladderBps.at(-1) > 10e6 ? 2 : 3;
      const row = (model, qoe, stalls, sessions) => [name, place, model, qoe, stalls, worst(sessions)];
      return [
        row(
          modelOf(first.file, name),
          own(({ qoe }) => qoe.linear).toFixed(digits),
          own(({ stallSeconds }) => stallSeconds).toFixed(2),
          reference,
        ),
        ...others.map(({ file, sessions }) => {
          const compared = places(ofMpcL(sessions)).get(place);
          const { qoe, stallSeconds } = componentDifference(compared, reference, {
            scenario,
            ways: unitsByDataset(reference),
            seed: 1,
            label: `${place} ${file}`,
          });
          return row(modelOf(file, name), signed(qoe, digits), signed(stallSeconds, 2), compared);
        }),
      ];
    });
  });
}

/** `mean-of-2-s` of `mean-of-2-s-uhd-8.json`. */
function modelOf(file, scenario) {
  return basename(file, '.json').replace(`-${scenario}`, '');
}

function signed(of, digits) {
  return of.value > 0 ? `+${estimate(of, digits)}` : estimate(of, digits);
}

function estimate(of, digits) {
  if (!of) return '-';
  const { value, ci95 } = of;
  return ci95
    ? `${value.toFixed(digits)} [${ci95.map((end) => end.toFixed(digits)).join(', ')}]`
    : value.toFixed(digits);
}
