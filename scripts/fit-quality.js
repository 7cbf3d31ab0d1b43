/** `npm run fit-quality`: the parameters of abr/qoe/quality.ts and abr/qoe/perceived-qoe.ts; see the usage below. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';
import { codecFactors, encodeTargets, frameRateShares, readEncodes } from './measured-encodes.js';

const { values, positionals, refuse } = commandLine(
  `usage: npm run fit-quality -- <media> <opinion> [--encodes <csv>]

Fits the model of quality and the prices of perceived QoE, and prints them, the errors on kinds of video and studies that
a fit leaves out, and rank correlations with ratings. <media> has media files with "vmaf" and "vmafPhone", named
<kind>-<number>.json, in H.264; <opinion> has the folders WaterlooSQoE-I and WaterlooSQoE-II of KSQI's repository; <csv>
is from npm run measure-encodes (scripts/encodes.csv).`,
  { options: { encodes: { type: 'string', default: 'scripts/encodes.csv' } }, positionals: 2 },
);
if (positionals.length < 2) refuse(`expected two folders, got ${positionals.join(' ') || 'none'}`);
const { modelledQuality, perceivedQoe, QUALITY_PARAMETERS } = await bundledSources('abr/index.ts');

/** VMAF's phone model is for a screen that fills about half of a television's height (an assumption, not a fit). */
const PHONE_LINES = 540;
/**
 * Published. Comyco (MM 2019, fitted on WaterlooSQoE-III): 0.8469 per point of VMAF, less 28.8 per second of stall and
 * 1.06 per point of a fall. Hossfeld et al. (2011): exp(-(0.15 seconds + 0.19) stalls). KSQI: a ninth for startup.
 */
const COMYCO = { stallSecond: 28.8 / 0.8469, fall: 1.06 / 0.8469 };
const STALL_IN_SECONDS = 0.19 / 0.15;
const STARTUP_DISCOUNT = 9;

const STUDIES = ['SQoE-I', 'SQoE-II'];
/** What differs between the clips of a study. */
const PARTS = { 'SQoE-I': ['stall', 'startup'], 'SQoE-II': ['fall', 'rise'] };

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;

/** Targets: each encode's mean VMAF, below 1080 lines, because its reference is a compressed 1080-line upload. */
function mediaTargets(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const { representations, vmaf, vmafPhone } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      const group = name.replace(/-.*/, '');
      return representations
        .map((encoding, i) => [
          { group, encoding, quality: mean(vmaf[i]) },
          { group, encoding: { ...encoding, displayedLines: PHONE_LINES }, quality: mean(vmafPhone[i]) },
        ])
        .filter((_, i) => representations[i].height < 1080)
        .flat();
    });
}

/** A study's clips. A stall before the first chunk is the startup; a bitrate is the representation's mean in the clip. */
function clipsOf(folder) {
  const [, ...rows] = readFileSync(join(folder, 'data.csv'), 'utf8').trim().split('\n');
  return rows.map((row) => {
    const [file, mos, content] = row.split(',');
    const [names, ...lines] = readFileSync(join(folder, 'streaming_logs', file), 'utf8')
      .trim()
      .split('\n');
    const chunks = lines.map((line) => {
      const values = line.split(',');
      return Object.fromEntries(names.split(',').map((name, i) => [name, Number(values[i])]));
    });
    const bitrateOf = (index) =>
      mean(chunks.filter((chunk) => chunk.representation_index === index).map((chunk) => chunk.video_bitrate));
    const waits = chunks.map((chunk) => chunk.rebuffering_duration);
    return {
      mos: Number(mos),
      content,
      vmafs: chunks.map(({ vmaf }) => vmaf),
      encodings: chunks.map(({ representation_index, width, height, framerate, qp }) => {
        return { bitrateBps: 1000 * bitrateOf(representation_index), width, height, frameRate: framerate, qp };
      }),
      segmentSeconds: chunks[0].chunk_duration,
      startupSeconds: waits[0],
      stallSeconds: sum(waits.slice(1)),
      stallCount: waits.slice(1).filter((wait) => wait > 0).length,
    };
  });
}

/** Coefficients of y on the rows' columns, by least squares; those of `positive` columns are 0 where they were negative. */
function leastSquares(rows, y, positive = []) {
  const used = rows[0].map((_, i) => i);
  for (;;) {
    const of = rows.map((row) => used.map((i) => row[i]));
    const solved = solve(
      used.map((_, i) => used.map((_, j) => sum(of.map((row) => row[i] * row[j])))),
      used.map((_, i) => sum(of.map((row, k) => row[i] * y[k]))),
    );
    const worst = used.findIndex((column, i) => positive.includes(column) && solved[i] < 0);
    if (worst < 0) return rows[0].map((_, i) => solved[used.indexOf(i)] ?? 0);
    used.splice(worst, 1);
  }
}

/** Gauss's elimination of a positive definite system. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  for (const [i, pivot] of rows.entries()) {
    for (const [j, row] of rows.entries()) {
      if (i === j) continue;
      const factor = row[i] / pivot[i];
      for (const k of row.keys()) row[k] -= factor * pivot[k];
    }
  }
  return rows.map((row, i) => row.at(-1) / row[i]);
}

/** Levenberg and Marquardt's method with numeric derivatives. */
function fitQuality(targets) {
  const names = Object.keys(QUALITY_PARAMETERS);
  let parameters = Object.fromEntries(names.map((name) => [name, 0.3]));
  // The last term keeps the frame rate's exponent at 0 where no target shows it.
  const errors = (at) => [
    ...targets.map(
      ({ encoding, quality, weight = 1 }) => Math.sqrt(weight) * (quality - modelledQuality(encoding, at)),
    ),
    at.frameRate,
  ];
  const loss = (at) => sum(errors(at).map((error) => error ** 2));
  for (let damping = 1, step = 0; step < 100; step++) {
    const now = errors(parameters);
    const slopes = names.map((name) =>
      errors({ ...parameters, [name]: parameters[name] + 1e-5 }).map((error, k) => (now[k] - error) / 1e-5),
    );
    const normal = slopes.map((a, i) =>
      slopes.map((b, j) => sum(a.map((x, k) => x * b[k])) * (i === j ? 1 + damping : 1)),
    );
    const change = solve(
      normal,
      slopes.map((a) => sum(a.map((x, k) => x * now[k]))),
    );
    const next = Object.fromEntries(names.map((name, i) => [name, parameters[name] + change[i]]));
    if (loss(next) < loss(parameters)) {
      parameters = next;
      damping /= 4;
    } else damping *= 4;
  }
  return parameters;
}

/**
 * Targets of a study, from clips without stalls and switches: the mean VMAF; below 20 pictures per second, which VMAF
 * does not judge, the rating on VMAF's scale.
 */
function studyTargets(clips, group) {
  const formats = ({ encodings }) =>
    new Set(encodings.map(({ height, frameRate, qp }) => `${height} ${frameRate} ${qp}`));
  // In SQoE-I, with constant bitrates, the qp changes from chunk to chunk.
  const even = clips.filter(
    (clip) => clip.startupSeconds + clip.stallSeconds === 0 && (group === 'SQoE-I' || formats(clip).size === 1),
  );
  const isFull = ({ encodings }) => encodings[0].frameRate > 20;
  const full = even.filter(isFull);
  const [offset, slope] = leastSquares(
    full.map(({ vmafs }) => [1, mean(vmafs)]),
    full.map(({ mos }) => mos),
  );
  return even.map((clip) => {
    const { frameRate, ...encoding } = clip.encodings[0];
    return isFull(clip)
      ? { group, encoding, quality: mean(clip.vmafs) }
      : { group, encoding: { ...encoding, frameRate }, quality: Math.min(100, (clip.mos - offset) / slope) };
  });
}

function ranks(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
}

function rankCorrelation(x, y) {
  const [a, b] = [ranks(x), ranks(y)];
  const [ma, mb] = [mean(a), mean(b)];
  const product = (u, mu, v, mv) => sum(u.map((value, i) => (value - mu) * (v[i] - mv)));
  return product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
}

/** A clip's parts per 4 s of media: mean quality by VMAF, stalls, startup seconds, falls, rises. */
function partsOf({ vmafs: qualities, ...clip }) {
  const units = (qualities.length * clip.segmentSeconds) / 4;
  const changes = qualities.slice(1).map((quality, i) => quality - qualities[i]);
  return {
    quality: mean(qualities),
    stall: clip.stallCount / units,
    startup: clip.startupSeconds / units,
    fall: -sum(changes.filter((change) => change < 0)) / units,
    rise: sum(changes.filter((change) => change > 0)) / units,
  };
}

/** Prices in units of quality, from ratings = offset + slope x (quality - prices x parts). */
function fitPrices(clips, names) {
  const solved = leastSquares(
    clips.map((clip) => {
      const parts = partsOf(clip);
      return [1, parts.quality, ...names.map((name) => -parts[name])];
    }),
    clips.map(({ mos }) => mos),
    names.map((_, i) => i + 2),
  );
  return Object.fromEntries(names.map((name, i) => [name, solved[i + 2] / solved[1]]));
}

const [mediaFolder, opinionFolder] = positionals;
const encodes = readEncodes(values.encodes);
const studies = Object.fromEntries(STUDIES.map((name) => [name, clipsOf(join(opinionFolder, `Waterloo${name}`))]));
const targets = [
  ...mediaTargets(mediaFolder),
  ...encodeTargets(encodes),
  ...STUDIES.flatMap((name) => studyTargets(studies[name], name)),
];
const line = (name, values, digits) =>
  console.log([name.padEnd(26), ...values.map((value) => value.toFixed(digits).padStart(9))].join(''));
const shown = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)
    .join(', ');

const fitted = fitQuality(targets);
console.log(`Model of quality: ${shown(fitted)}\n`);
console.log('A fit leaves out            targets     bias  |error|');
const groups = [...new Set(targets.map(({ group }) => group))];
const without = Object.fromEntries(
  groups.map((group) => [group, fitQuality(targets.filter((target) => target.group !== group))]),
);
for (const group of groups) {
  for (const [title, lines] of [
    ['', undefined],
    [', phone', PHONE_LINES],
  ]) {
    const of = targets.filter(
      ({ group: of, encoding }) =>
        of === group && (encoding.displayedLines === PHONE_LINES) === (lines === PHONE_LINES),
    );
    const errors = of.map(({ encoding, quality }) => modelledQuality(encoding, without[group]) - quality);
    if (of.length > 0) line(group + title, [of.length, mean(errors), mean(errors.map(Math.abs))], 1);
  }
}

console.log('\nBits for a bit of H.264, by codec (mean less and plus a standard deviation over sources)');
for (const { codec, factor, low, high, logs } of codecFactors(encodes)) {
  line(`  ${codec}, ${logs.length} sources`, [factor, low, high], 2);
}
console.log('Quality of repeated pictures as a share of 60 per second');
for (const { rate, share, shares } of frameRateShares(encodes)) {
  line(`  ${rate}, ${shares.length} sources`, [share, Math.min(...shares), Math.max(...shares)], 2);
}

const [one, two] = STUDIES.map((name) => fitPrices(studies[name], PARTS[name]));
// Every stall of SQoE-I lasts 5 s, so the begin's share is Hossfeld's. Between two sources whose prices differ several
// times stands their geometric mean; of falls, which are of one order, the mean.
const stallSecond = Math.sqrt(one.stall * 5 * COMYCO.stallSecond) / (5 + STALL_IN_SECONDS);
const prices = {
  stall: STALL_IN_SECONDS * stallSecond,
  stallSecond,
  startupSecond: Math.sqrt((one.startup * stallSecond) / STARTUP_DISCOUNT),
  fall: (two.fall + COMYCO.fall) / 2,
  rise: two.rise,
};
console.log(`\nPrices: ${shown(prices)}`);
console.log(`  SQoE-I: ${shown(one)} (of 5 s; per second); SQoE-II: ${shown(two)}; Comyco: ${shown(COMYCO)}\n`);

console.log(`Rank correlation with ratings${STUDIES.map((name) => name.padStart(18)).join('')}`);
console.log(`${' '.repeat(26)}${STUDIES.map(() => '      all   within').join('')}`);
const mbps = ({ encodings }) => encodings.map(({ bitrateBps }) => bitrateBps / 1e6);
const objectives = {
  'measured VMAF': () => ({ qualitiesOf: ({ vmafs }) => vmafs, pricesOf: () => prices }),
  'model, without the study': (name) => ({
    qualitiesOf: ({ encodings }) => encodings.map((encoding) => modelledQuality(encoding, without[name])),
    pricesOf: () => prices,
  }),
  'bitrate (linear)': (name) => bitrateObjective(name, (rate) => rate),
  'log bitrate (log)': (name) => bitrateObjective(name, (rate) => Math.log(rate / lowest(name))),
};
const lowest = (name) => Math.min(...studies[name].flatMap(mbps));
/** As abr/qoe.ts has it: the price of stalls is the top quality, that of changes 1. */
function bitrateObjective(name, of) {
  const top = (content) =>
    Math.max(...studies[name].filter((clip) => clip.content === content).map((clip) => mean(mbps(clip))));
  return {
    qualitiesOf: (clip) => mbps(clip).map(of),
    pricesOf: ({ content }) => {
      const mu = of(top(content));
      return { stall: 0, stallSecond: mu, startupSecond: mu, fall: 1, rise: 1 };
    },
  };
}
for (const [title, objective] of Object.entries(objectives)) {
  const values = STUDIES.flatMap((name) => {
    const clips = studies[name];
    const { qualitiesOf, pricesOf } = objective(name);
    const scores = clips.map((clip) => perceivedQoe({ ...clip, qualities: qualitiesOf(clip) }, pricesOf(clip)));
    const mos = clips.map((clip) => clip.mos);
    const within = [...new Set(clips.map(({ content }) => content))].map((content) => {
      const of = (_, i) => clips[i].content === content;
      return rankCorrelation(scores.filter(of), mos.filter(of));
    });
    return [rankCorrelation(scores, mos), mean(within)];
  });
  line(title, values, 3);
}
