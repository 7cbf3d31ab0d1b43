/** `npm run pictures`: draws the SVG files of docs/images. */
import { existsSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { bundledSources } from './bundled-sources.js';
import { commandLine, gitFiles, ROOT, read } from './command-line.js';
import { readSteps } from './result-steps.js';

const USAGE = `usage: npm run pictures -- [--check]

Draws docs/images/*.svg from docs/results/*.json (quality, stalls, live) and from the imports of the sources (house).
--check writes nothing; the status is 1 if a picture differs.`;
/** Each folder's content, in the picture's order from top to bottom. The service is beside the session. */
const HOUSE = {
  e2e: 'browser tests',
  demo: 'the page of npm start',
  cli: 'the command leo-abr',
  transport: 'TCP and HTTP/3',
  replay: 'traces, simulator, browsers',
  src: 'the plugin in each player',
  session: 'decisions of a session',
  service: 'the service at the dish',
  predictor: 'forecasts of capacity',
  abr: 'controllers, pure',
};

const at = (value) => Number(value.toFixed(1));
const bar = (n, x, y, height) => `<rect class="c${n}" x="${at(x)}" y="${at(y)}" width="12" height="${height}"/>`;
const dot = (n, x, y) => `<circle class="c${n}" cx="${at(x)}" cy="${at(y)}" r="5"/>`;
const text = (x, y, content, anchor = 'start') =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}">${content}</text>`;

const { values: flags } = commandLine(USAGE, { options: { check: { type: 'boolean' } } });
const { modelledQuality, usualDisplayedLines } = await bundledSources('abr/index.ts');
const results = readSteps(join(ROOT, 'docs', 'results'));
const objects = ({ columns, rows }) =>
  rows.map((row) => Object.fromEntries(Object.keys(columns).map((name, i) => [name, row[i]])));
for (const [name, draw] of Object.entries({ quality, stalls, live, house })) {
  const file = join(ROOT, 'docs', 'images', `${name}.svg`);
  const picture = draw();
  if (existsSync(file) && read(file) === picture) continue;
  console.log(`docs/images/${name}.svg: ${flags.check ? 'differs from its source' : 'written'}`);
  if (flags.check) process.exitCode = 1;
  else writeFileSync(file, picture);
}

/** Draws the curve of quality, and for each bitrate and algorithm a bar with the share of its segments. */
function quality() {
  const choices = objects(results.choices.tables.choices);
  const ladder = [...new Set(choices.map((row) => row['chosen, Mbit/s']))];
  const displayedLines = usualDisplayedLines(ladder.map((mbps) => ({ bitrateBps: mbps * 1e6 })));
  const qualityOf = (mbps) => modelledQuality({ bitrateBps: mbps * 1e6, displayedLines });
  const curve = Array.from({ length: 100 }, (_, i) => ((i + 1) * ladder.at(-1)) / 92);
  const algorithms = [...new Set(choices.map(({ algorithm }) => algorithm))];
  const axes = [
    { label: 'bitrate, Mbit/s', from: 0, to: curve.at(-1), ticks: ladder },
    { label: 'curve: quality, 0 to 100; bars: share of segments, %', from: 0, to: 100, ticks: [0, 25, 50, 75, 100] },
  ];
  return plot(`Quality against bitrate, and what MPC-L chose in ${choices[0].scenario}`, axes, (x, y) => [
    ...choices.map(({ algorithm, 'chosen, Mbit/s': mbps, 'segments, %': share }) => {
      const n = algorithms.indexOf(algorithm);
      return bar(n, x(mbps) - 13 + 13 * n, y(share), at(y(0) - y(share)));
    }),
    ...algorithms.map((name, n) => bar(n, 380, 158 + 22 * n, 12) + text(400, 169 + 22 * n, `share that ${name} chose`)),
    `<path class="line c2" d="M${curve.map((mbps) => `${at(x(mbps))} ${at(y(qualityOf(mbps)))}`).join('L')}"/>`,
    ...ladder.map((mbps) => dot(2, x(mbps), y(qualityOf(mbps)))),
  ]);
}

/** Draws a dot per algorithm. If another dot or the picture's edge is close on the right, the name is on the left. */
function stalls() {
  const table = objects(results['any-link'].tables['any-link-algorithms']);
  const all = table.filter(({ algorithm }) => !['mpc-o', 'mpc-l@oracle'].includes(algorithm));
  const rows = all.filter(({ scenario }) => scenario === 'ladder-8');
  const axis = (label, column, step) => {
    const values = rows.map((row) => row[column] / step);
    const [from, to] = [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values))];
    const ticks = Array.from({ length: to - from + 1 }, (_, i) => at((from + i) * step));
    return { label, from: from * step, to: to * step, ticks };
  };
  const axes = [axis('stalls, s per session', 'stalls, s', 0.2), axis('quality, 0 to 100', 'quality', 1)];
  const title = 'Quality against stalls, 753 sessions with and without satellites: better is up and left';
  return plot(title, axes, (x, y) => {
    const dots = rows.map((row) => ({ name: row.algorithm, left: x(row['stalls, s']), middle: y(row.quality) }));
    return dots.map(({ name, left, middle }) => {
      const isBeside = dots.some((one) => Math.abs(one.left - left - 70) < 60 && Math.abs(one.middle - middle) < 12);
      const label = isBeside || left > 500 ? [left - 10, middle + 4, name, 'end'] : [left + 10, middle + 4, name];
      return dot(name.startsWith('mpc-l') ? 0 : 1, left, middle) + text(...label);
    });
  });
}

/** Draws a line per algorithm through its targets of 1, 2, 3 and 5 s, with the latency beside each dot. */
function live() {
  const targets = [1, 2, 3, 5].map((seconds) => objects(results[`live-${seconds}`].tables[`live-${seconds}`]));
  // The colour of each algorithm, and how far its latencies are to the right of its dots and below them.
  const places = { 'mpc-l': [0, -24, 4], 'mpc-d': [1, 0, 19], throughput: [1, 0, -9], 'mpc-o': [2, 0, -9] };
  const lines = Object.entries(places).map(([name, place]) => ({
    ...{ name, place },
    rows: targets.map((rows) => rows.find((row) => row.recordings === 'all' && row.algorithm === name)),
  }));
  const qualities = lines.flatMap(({ rows }) => rows.map(({ quality }) => quality));
  const [from, to] = [Math.floor(Math.min(...qualities)) - 1, Math.ceil(Math.max(...qualities))];
  const axes = [
    { label: 'stalls a minute', from: 0.02, to: 25, ticks: [0.03, 0.1, 0.3, 1, 3, 10], scale: Math.log10 },
    { label: 'quality, 0 to 100', from, to, ticks: Array.from({ length: to - from + 1 }, (_, i) => from + i) },
  ];
  const title = 'Live: quality against stalls, and the latency behind live: better is up and left';
  return plot(title, axes, (x, y) =>
    lines.flatMap(({ name, place: [color, right, below], rows }) => {
      const dots = rows.map((row) => [x(row['stalls / min']), y(row.quality), `${row['latency, s'].toFixed(1)} s`]);
      return [
        `<path class="line c${color}" d="M${dots.map(([left, middle]) => `${at(left)} ${at(middle)}`).join('L')}"/>`,
        ...dots.map(([left, middle]) => dot(color, left, middle)),
        ...dots.map(([left, middle, latency], i) =>
          i < 3 ? text(left + right, middle + below, latency, 'middle') : text(left, middle + 19, latency, 'middle'),
        ),
        text(dots[0][0] + 10, dots[0][1] + 4, name),
      ];
    }),
  );
}

/** Draws the folders with an arrow for each import, unless other arrows already lead there. */
function house() {
  const imports = importsOfFolders();
  const reached = (from) => new Set([...imports[from]].flatMap((to) => [to, ...reached(to)]));
  const arrows = Object.entries(imports).flatMap(([from, all]) =>
    [...all].filter((to) => ![...all].some((via) => reached(via).has(to))).map((to) => arrow(from, to)),
  );
  const boxes = Object.entries(HOUSE).map(([name, content]) => {
    const { x, y } = placeOf(name);
    const lines = text(x, y + 17, `${name}/`, 'middle" font-weight="bold') + text(x, y + 33, content, 'middle');
    return `<rect class="box" x="${x - 95}" y="${y}" width="190" height="40" rx="6"/>${lines}`;
  });
  return svg(430, 570, 'Folders; an arrow leads to the folder that is imported', [...boxes, ...arrows]);
}

function importsOfFolders() {
  const imports = Object.fromEntries(Object.keys(HOUSE).map((name) => [name, new Set()]));
  for (const file of gitFiles('*.ts')) {
    if (!existsSync(join(ROOT, file)) || !/(?<!\.test|\.fixture)\.ts$/.test(file)) continue;
    const from = file.split('/')[0];
    for (const [, path] of read(file).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const to = normalize(join(file, '..', path)).split('/')[0];
      if (to !== from && imports[from] && imports[to]) imports[from].add(to);
    }
  }
  return imports;
}

function placeOf(folder) {
  const row = Object.keys(HOUSE).indexOf(folder);
  return { x: folder === 'service' ? 325 : 105, y: 36 + 60 * (row > 6 ? row - 1 : row) };
}

/** Draws an arrow straight down, or round a corner to or from the service. */
function arrow(...folders) {
  const [from, to] = folders.map(placeOf);
  const begin = from.x < to.x ? `M${from.x + 95} ${from.y + 20}H${to.x}` : `M${from.x} ${from.y + 40}`;
  const end = from.x > to.x ? `V${to.y + 20}H${to.x + 95}` : `V${to.y}`;
  return `<path class="line" marker-end="url(#tip)" d="${begin}${end}"/>`;
}

/** An axis goes from `from` to `to`, by the logarithm if it has a `scale`. */
function plot(title, [across, up], shapes) {
  const { scale = (value) => value } = across;
  const x = (value) => 60 + (540 * (scale(value) - scale(across.from))) / (scale(across.to) - scale(across.from));
  const y = (value) => 340 - (290 * (value - up.from)) / (up.to - up.from);
  return svg(640, 400, title, [
    ...up.ticks.map(
      (value) => `<path class="grid" d="M60 ${at(y(value))}H600"/>${text(52, y(value) + 4, value, 'end')}`,
    ),
    ...across.ticks.map((value) => text(x(value), 358, value, 'middle')),
    '<path class="line" d="M60 50V340H600"/>',
    ...[text(330, 384, across.label, 'middle'), text(10, 38, up.label)],
    ...shapes(x, y),
  ]);
}

/** Makes the picture, with its own light or dark background. */
function svg(width, height, title, shapes) {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="13">
<title>${title}</title>
<style>
:root { --ground: #fff; --ink: #222; --grid: #ddd; --c0: #1b4fd6; --c1: #b34700; --c2: #0b7261 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0d1117; --ink: #e6ebf2; --grid: #333c48; --c0: #7fb0ff; --c1: #ffac57; --c2: #4fd6b4 }
}
text, marker { fill: var(--ink) } .grid { stroke: var(--grid) } .c0 { fill: var(--c0) } .c1 { fill: var(--c1) } .c2 { fill: var(--c2) }
.line, .box { fill: none; stroke: var(--ink); stroke-width: 1.5 } .line.c0 { stroke: var(--c0) } .line.c1 { stroke: var(--c1) } .line.c2 { stroke: var(--c2) }
</style>
<marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path d="M0 0L9 4L0 8Z"/></marker>
<rect width="${width}" height="${height}" fill="var(--ground)"/>
<text x="10" y="18" font-weight="bold">${title}</text>
${shapes.join('\n')}
</svg>
`;
}
