/** `npm run fit-quality`: fits the parameters of abr/qoe/quality.ts and abr/qoe/perceived-qoe.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';
import { codecFactors, csvRows, encodeTargets, frameRateShares, mean, readEncodes, sum } from './measured-encodes.js';

const { values, positionals, refuse } = commandLine(
  `usage: npm run fit-quality -- <media> <opinion> <ratings> [--encodes <csv>]

Fits the model of quality and the prices of perceived QoE, and prints them, the errors on kinds of video, sources and
studies that a fit leaves out, and rank correlations with ratings. <media> has media files with "vmaf" and "vmafPhone",
named <kind>-<number>.json, in H.264; <opinion> has the folders WaterlooSQoE-I and WaterlooSQoE-II of KSQI's repository;
<ratings> is the CSV of AVT-VQDB-UHD-1: test, source, codec, width, height, frame_rate, bitrate_bps, mos, vmaf; <csv> is
from npm run measure-encodes (scripts/encodes.csv).`,
  { options: { encodes: { type: 'string', default: 'scripts/encodes.csv' } }, positionals: 3 },
);
if (positionals.length < 3) refuse(`expected two folders and a CSV, got ${positionals.join(' ') || 'none'}`);
const { modelledQuality, perceivedQoe, QUALITY_PARAMETERS } = await bundledSources('abr/index.ts');

/** VMAF's phone model is assumed, not fitted, to be for a screen of about half of a television's height. */
const PHONE_LINES = 540;
/** VMAF judges a video against its source, so its full frame rate counts as this. */
const FULL_RATE = 60;
/** Viewers' ratings and our encodes count whole; VMAF of media, which are many encodes of few videos, by this. */
const MEDIA_WEIGHT = 0.15;
/** Mean opinions of 1 to 5 on the scale of quality: nobody rates every clip with 5. */
const qualityOfMos = (mos) => (100 * (mos - 1)) / 3.75;
/**
 * Published prices. Comyco (MM 2019, fitted on WaterlooSQoE-III) has 0.8469 per point of VMAF, less 28.8 per second of
 * stall and 1.06 per point of a fall. Hossfeld et al. (2011) have exp(-(0.15 seconds + 0.19) stalls). KSQI prices
 * startup at a ninth.
 */
const COMYCO = { stallSecond: 28.8 / 0.8469, fall: 1.06 / 0.8469 };
const STALL_IN_SECONDS = 0.19 / 0.15;
const STARTUP_DISCOUNT = 9;

const STUDIES = ['SQoE-I', 'SQoE-II'];
/** The clips of a study differ in these parts. */
const PARTS = { 'SQoE-I': ['stall', 'startup'], 'SQoE-II': ['fall', 'rise'] };

/** Targets are each encode's mean VMAF below 1080 lines, because the reference is a compressed 1080-line upload. */
function mediaTargets(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const { representations, vmaf, vmafPhone } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      const group = name.replace(/-.*/, '');
      return representations
        .map((encoding, i) => [
          { group, encoding: atFullRate(encoding), quality: mean(vmaf[i]), weight: MEDIA_WEIGHT },
          {
            ...{ group, quality: mean(vmafPhone[i]), weight: MEDIA_WEIGHT },
            encoding: { ...atFullRate(encoding), displayedLines: PHONE_LINES },
          },
        ])
        .filter((_, i) => representations[i].height < 1080)
        .flat();
    });
}

const atFullRate = (encoding) => ({ ...encoding, frameRate: FULL_RATE });

/** Clips on a television of 2160 lines. */
function ratedTargets(file) {
  return csvRows(file).map(({ test, source, codec, width, height, frame_rate, bitrate_bps, mos, vmaf }) => ({
    ...{ group: source, test, mos, vmaf, quality: qualityOfMos(mos) },
    encoding: { bitrateBps: bitrate_bps, codec, width, height, frameRate: frame_rate, displayedLines: 2160 },
  }));
}

/** A study's clips. A stall before the first chunk is the startup. A bitrate is a representation's mean in the clip. */
function clipsOf(folder) {
  return csvRows(join(folder, 'data.csv')).map((row) => {
    const [file, mos, content] = Object.values(row);
    const chunks = csvRows(join(folder, 'streaming_logs', file));
    const bitrateOf = (index) =>
      mean(chunks.filter((chunk) => chunk.representation_index === index).map((chunk) => chunk.video_bitrate));
    const waits = chunks.map((chunk) => chunk.rebuffering_duration);
    return {
      ...{ mos, content },
      vmafs: chunks.map(({ vmaf }) => vmaf),
      encodings: chunks.map(({ representation_index, width, height, framerate, qp }) => {
        return { bitrateBps: 1000 * bitrateOf(representation_index), width, height, frameRate: framerate, qp };
      }),
      segmentSeconds: chunks[0].chunk_duration,
      startupSeconds: waits[0],
      stalls: stallsOf(waits, chunks[0].chunk_duration),
    };
  });
}

/** A wait of a chunk is before it. The first wait is the startup. */
function stallsOf(waits, chunkSeconds) {
  let stalled = 0;
  return waits.flatMap((wait, i) => {
    if (i === 0 || !(wait > 0)) return [];
    const startSeconds = i * chunkSeconds + stalled;
    stalled += wait;
    return [{ startSeconds, endSeconds: startSeconds + wait }];
  });
}

/** Least-squares coefficients of y on the rows' columns. A negative coefficient of a `positive` column becomes 0. */
function leastSquares(rows, y, positive = []) {
  const used = rows[0].map((_, i) => i);
  for (;;) {
    const columns = used.map((i) => rows.map((row) => row[i]));
    const products = columns.map((a) => columns.map((b) => dot(a, b)));
    const right = columns.map((a) => dot(a, y));
    const solved = solve(products, right);
    const worst = used.findIndex((column, i) => positive.includes(column) && solved[i] < 0);
    if (worst < 0) return rows[0].map((_, i) => solved[used.indexOf(i)] ?? 0);
    used.splice(worst, 1);
  }
}

const dot = (a, b) => sum(a.map((value, i) => value * b[i]));

/** Solves a positive definite system by Gauss's elimination. */
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

/** Fits by Levenberg and Marquardt's method with numeric derivatives. */
function fitQuality(targets) {
  const names = Object.keys(QUALITY_PARAMETERS);
  let parameters = Object.fromEntries(names.map((name) => [name, 0.3]));
  const errorOf = ({ encoding, quality, weight = 1 }, at) =>
    Math.sqrt(weight) * (quality - modelledQuality(encoding, at));
  // The last term keeps the frame rate's exponent at 0 if no target depends on it.
  const errors = (at) => [...targets.map((target) => errorOf(target, at)), at.frameRate];
  const loss = (at) => sum(errors(at).map((error) => error ** 2));
  for (let damping = 1, step = 0; step < 100; step++) {
    const now = errors(parameters);
    const slopes = names.map((name) =>
      errors({ ...parameters, [name]: parameters[name] + 1e-5 }).map((error, k) => (now[k] - error) / 1e-5),
    );
    const normal = slopes.map((a, i) => slopes.map((b, j) => dot(a, b) * (i === j ? 1 + damping : 1)));
    const right = slopes.map((a) => dot(a, now));
    const change = solve(normal, right);
    const next = Object.fromEntries(names.map((name, i) => [name, parameters[name] + change[i]]));
    if (loss(next) < loss(parameters)) {
      parameters = next;
      damping /= 4;
    } else damping *= 4;
  }
  return parameters;
}

/**
 * Targets of a study from clips without stalls and switches. A target is the mean VMAF. VMAF does not judge less than
 * 20 pictures per second, so those clips have the rating on VMAF's scale.
 */
function studyTargets(clips, group) {
  const formats = ({ encodings }) =>
    new Set(encodings.map(({ height, frameRate, qp }) => `${height} ${frameRate} ${qp}`));
  // SQoE-I has constant bitrates, at which the qp changes from chunk to chunk.
  const isEven = (clip) => group === 'SQoE-I' || formats(clip).size === 1;
  const even = clips.filter((clip) => clip.startupSeconds + clip.stalls.length === 0 && isEven(clip));
  const isFull = ({ encodings }) => encodings[0].frameRate > 20;
  const full = even.filter(isFull);
  const columns = full.map(({ vmafs }) => [1, mean(vmafs)]);
  const [offset, slope] = leastSquares(columns, full.map(mosOf));
  return even.map((clip) => {
    const { frameRate, ...encoding } = clip.encodings[0];
    if (isFull(clip)) return { group, encoding: atFullRate(encoding), quality: mean(clip.vmafs) };
    // Rated beside clips of 30 pictures per second, which count as full here.
    const doubled = { ...encoding, frameRate: (frameRate * FULL_RATE) / 30 };
    return { group, encoding: doubled, quality: Math.min(100, (clip.mos - offset) / slope) };
  });
}

const mosOf = ({ mos }) => mos;

/** Ranks, less their mean. */
function ranks(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (values.length - 1) / 2;
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2 - middle);
}

function rankCorrelation(x, y) {
  const [a, b] = [ranks(x), ranks(y)];
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** A clip's parts: mean VMAF, and per 4 s of media the stalls, startup seconds, falls and rises. */
function partsOf({ vmafs: qualities, ...clip }) {
  const units = (qualities.length * clip.segmentSeconds) / 4;
  const changes = qualities.slice(1).map((quality, i) => quality - qualities[i]);
  return {
    quality: mean(qualities),
    stall: clip.stalls.length / units,
    startup: clip.startupSeconds / units,
    fall: -sum(changes.filter((change) => change < 0)) / units,
    rise: sum(changes.filter((change) => change > 0)) / units,
  };
}

/** Prices in units of quality, from ratings = offset + slope x (quality - prices x parts). */
function fitPrices(clips, names) {
  const rows = clips.map(partsOf).map((parts) => [1, parts.quality, ...names.map((name) => -parts[name])]);
  const positive = names.map((_, i) => i + 2);
  const solved = leastSquares(rows, clips.map(mosOf), positive);
  return Object.fromEntries(names.map((name, i) => [name, solved[i + 2] / solved[1]]));
}

const [mediaFolder, opinionFolder, ratingsFile] = positionals;
const encodes = readEncodes(values.encodes);
const studies = Object.fromEntries(STUDIES.map((name) => [name, clipsOf(join(opinionFolder, `Waterloo${name}`))]));
const rated = ratedTargets(ratingsFile);
const targets = [
  ...mediaTargets(mediaFolder),
  ...encodeTargets(encodes),
  ...rated,
  ...STUDIES.flatMap((name) => studyTargets(studies[name], name)),
];
const line = (name, values, digits) =>
  console.log([name.padEnd(26), ...values.map((value) => value.toFixed(digits).padStart(9))].join(''));
const shown = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`)
    .join(', ');

const fitted = fitQuality(targets);
console.log(`Model of quality: ${shown(fitted)}`);
for (const codec of ['hevc', 'vp9']) {
  const of = rated.filter(({ encoding }) => encoding.codec === codec);
  const lossOf = (factor) =>
    sum(
      of.map(({ encoding: { bitrateBps, ...encoding }, quality }) => {
        const asH264 = { ...encoding, codec: 'h264', bitrateBps: bitrateBps / factor };
        return (quality - modelledQuality(asH264, fitted)) ** 2;
      }),
    );
  const factors = Array.from({ length: 61 }, (_, i) => 0.4 + i / 100);
  const best = factors.reduce((a, b) => (lossOf(b) < lossOf(a) ? b : a));
  console.log(`  ${codec} by ratings: ${best.toFixed(2)} bits for a bit of H.264`);
}
console.log('');
console.log('A fit leaves out            targets     bias  |error|');
const groups = [...new Set(targets.map(({ group }) => group))];
const without = Object.fromEntries(
  groups.map((group) => [group, fitQuality(targets.filter((target) => target.group !== group))]),
);
for (const group of groups) {
  const ofGroup = targets.filter((target) => target.group === group);
  for (const isPhone of [false, true]) {
    const of = ofGroup.filter(({ encoding }) => (encoding.displayedLines === PHONE_LINES) === isPhone);
    const errors = of.map(({ encoding, quality }) => modelledQuality(encoding, without[group]) - quality);
    const title = isPhone ? `${group}, phone` : group;
    if (of.length > 0) line(title, [of.length, mean(errors), mean(errors.map(Math.abs))], 1);
  }
}

const leftOut = rated.map(({ group, encoding }) => modelledQuality(encoding, without[group]));
console.log(
  '\nRatings at 2160 lines: |error|; per test, rank correlation of the model without the source and of VMAF, and how',
);
console.log('much a rating rises with a point of VMAF');
line('all', [mean(rated.map(({ quality }, i) => Math.abs(leftOut[i] - quality)))], 1);
for (const test of [...new Set(rated.map(({ test }) => test))]) {
  const of = rated.map((clip, i) => ({ ...clip, left: leftOut[i] })).filter((clip) => clip.test === test);
  const correlation = (key) => rankCorrelation(of.map(key), of.map(mosOf));
  const columns = of.map(({ vmaf }) => [1, vmaf]);
  const [, slope] = leastSquares(
    columns,
    of.map(({ quality }) => quality),
  );
  line(`test ${test}`, [correlation(({ left }) => left), correlation(({ vmaf }) => vmaf), slope], 3);
}
// What a price of bits weighs: clips of one source, codec and frame rate, at least 1.3 times the bitrate apart.
console.log('Rise of the ratings, and of the model without the source, to higher bitrates');
const clips = rated.map((clip, i) => ({ ...clip, ...clip.encoding, left: leftOut[i] }));
const isSame = (a, b) => ['test', 'group', 'codec', 'frameRate'].every((key) => a[key] === b[key]);
for (const [fromMbps, toMbps] of [
  [7, 14],
  [14, 25],
  [25, 100],
]) {
  const pairs = clips
    .filter(({ bitrateBps }) => bitrateBps >= 1e6 * fromMbps && bitrateBps < 1e6 * toMbps)
    .flatMap((a) => clips.filter((b) => isSame(a, b) && b.bitrateBps >= 1.3 * a.bitrateBps).map((b) => [a, b]));
  const rise = (key) => mean(pairs.map(([a, b]) => b[key] - a[key]));
  line(`  from ${fromMbps} to ${toMbps} Mbit/s`, [pairs.length, rise('quality'), rise('left')], 1);
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
// Every stall of SQoE-I lasts 5 s, so the share of the stall's start is Hossfeld's. If two sources' prices differ
// several times, their geometric mean counts. Prices of falls are of one order, so their mean counts.
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
/** The objective of abr/qoe/qoe.ts: the price of stalls is the top quality, the price of changes is 1. */
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
    const mos = clips.map(mosOf);
    const within = [...new Set(clips.map(({ content }) => content))].map((content) => {
      const of = (_, i) => clips[i].content === content;
      return rankCorrelation(scores.filter(of), mos.filter(of));
    });
    return [rankCorrelation(scores, mos), mean(within)];
  });
  line(title, values, 3);
}
