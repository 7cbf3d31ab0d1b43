/**
 * `node scripts/draw-trade-off.js --out <file.svg> <results.json>...`: mean QoE against the stalls of the worst 5 % of sessions,
 * a panel per data set (sat-vs-cell by transport), with the points of `mpc-l:risk-*` joined. The results are of one scenario, with
 * the same traces and starts. Prints the points as Markdown, and for each other algorithm which risks beat it in both.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
if (positionals.length === 0 || !values.out) {
  console.error('usage: node scripts/draw-trade-off.js --out <file.svg> <results.json>...');
  process.exit(2);
}

const WORST_SHARE = 0.05;
/** What mpc-l alone stands at. */
const DEFAULT_RISK = 0.1;
/** The others lie close. */
const LABELLED_RISKS = [0, 0.25, 1];
const sessions = new Map();
for (const file of positionals) {
  for (const session of JSON.parse(readFileSync(file, 'utf8')).sessions) {
    const { dataset, trace, algorithm, startSeconds } = session;
    const transport = /-(udp|tcp)-/.exec(trace)?.[1]?.toUpperCase();
    const place = transport ? `${dataset} ${transport}` : dataset;
    sessions.set(JSON.stringify([place, algorithm, trace, startSeconds]), { place, algorithm, session });
  }
}
const points = [...grouped(sessions.values())].map(([, of]) => {
  const stalls = of.map(({ session }) => session.stallSeconds).sort((a, b) => b - a);
  const { place, algorithm } = of[0];
  const risk = algorithm === 'mpc-l' ? DEFAULT_RISK : Number(/^mpc-l:risk-(.+)$/.exec(algorithm)?.[1] ?? Number.NaN);
  return {
    place,
    algorithm,
    risk,
    qoe: mean(of.map(({ session }) => session.qoe.linear)),
    worst: mean(stalls.slice(0, Math.ceil(WORST_SHARE * stalls.length))),
  };
});
const places = [...new Set(points.map(({ place }) => place))];
const curve = points.filter(({ risk }) => risk >= 0).sort((a, b) => a.risk - b.risk);
const others = points.filter(({ risk, algorithm }) => Number.isNaN(risk) && algorithm !== 'mpc-o');

console.log(
  '| recordings | algorithm | QoE | worst 5 % s | risks that are better in both |\n| --- | --- | --- | --- | --- |',
);
for (const { place, algorithm, qoe, worst } of [...curve, ...others].sort(
  (a, b) => places.indexOf(a.place) - places.indexOf(b.place),
)) {
  const better = curve.filter(
    (one) => one.place === place && one.qoe >= qoe && one.worst <= worst && (one.qoe > qoe || one.worst < worst),
  );
  const isOther = others.some((one) => one.place === place && one.algorithm === algorithm);
  const risks = better.map(({ risk }) => risk).join(', ') || 'none';
  console.log(`| ${place} | ${algorithm} | ${qoe.toFixed(2)} | ${worst.toFixed(2)} | ${isOther ? risks : ''} |`);
}

const { document } = parseHTML('<!doctype html><html><body></body></html>');
const panels = places.map((place) =>
  Plot.plot({
    document,
    width: 330,
    height: 270,
    marginLeft: 42,
    marginRight: 20,
    style: { fontSize: '10px', background: 'white', color: '#222' },
    x: { label: 'mean QoE (Mbit/s)', nice: true, ticks: 5 },
    y: { label: 'stalls of the worst 5 % (s)', nice: true, zero: true, grid: true, ticks: 5 },
    marks: [
      Plot.line(
        curve.filter((one) => one.place === place),
        { x: 'qoe', y: 'worst', stroke: '#1d4fd8', strokeWidth: 1.5 },
      ),
      Plot.dot(
        curve.filter((one) => one.place === place),
        { x: 'qoe', y: 'worst', fill: '#1d4fd8', r: 3 },
      ),
      Plot.text(
        curve.filter((one) => one.place === place),
        {
          x: 'qoe',
          y: 'worst',
          text: ({ risk }) => (LABELLED_RISKS.includes(risk) ? `${risk}` : ''),
          dy: -8,
          fill: '#1d4fd8',
        },
      ),
      Plot.dot(
        others.filter((one) => one.place === place),
        { x: 'qoe', y: 'worst', stroke: '#b3400a', r: 3, symbol: 'square' },
      ),
      Plot.text(
        others.filter((one) => one.place === place),
        { x: 'qoe', y: 'worst', text: 'algorithm', dy: 10, fill: '#b3400a' },
      ),
    ],
  }),
);
const columns = 2;
const rows = Math.ceil(panels.length / columns);
const body = panels.map((panel, i) => {
  const svg = panel.tagName.toLowerCase() === 'svg' ? panel : panel.querySelector('svg');
  const [x, y] = [(i % columns) * 340, Math.floor(i / columns) * 300];
  svg.setAttribute('x', String(x));
  svg.setAttribute('y', String(y + 20));
  return `<text x="${x + 42}" y="${y + 14}" font-family="sans-serif" font-size="12" font-weight="bold">${places[i]}</text>${svg.outerHTML.replace(/<style>[\s\S]*?<\/style>/, '').replace(/<svg[^>]*>/, (tag) => `${tag}<title>${places[i]}</title>`)}`;
});
writeFileSync(
  values.out,
  `<svg xmlns="http://www.w3.org/2000/svg" width="${columns * 340}" height="${rows * 300}" role="img" aria-label="Mean QoE against the stalls of the worst sessions, over risk"><title>Mean QoE against the stalls of the worst sessions, over risk</title><rect width="100%" height="100%" fill="white"/>${body.join('')}</svg>\n`,
);

function keyOf({ place, algorithm }) {
  return `${place} ${algorithm}`;
}

function grouped(all) {
  const groups = new Map();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
