/**
 * `node scripts/check-serving-satellite.js`: the service's serving satellite and handover times on a recording of dish
 * status, obstruction maps, 10 ms pings and orbits (../shared/data/telemetry/leoviz-sample), against what another tool
 * published for part of it, and against the steps in the pings. Prints tables in Markdown; ten seconds.
 * docs/service.md says what came of it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { bundledSources } from './bundled-sources.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const data = join(root, '../shared/data/telemetry/leoviz-sample');
/** By the recording's own GPS: degrees and metres. */
const PLACE = { latitudeDegrees: 48.513683, longitudeDegrees: -124.293535, altitudeMetres: 201 };
/** 2025-05-29, second 12 of a minute: handovers are at this plus multiples of 15 s. */
const HANDOVER_MS = Date.UTC(2025, 4, 29, 23, 0, 12);
const EPOCH_MS = 15_000;
const GEOMETRY = { rows: 123, columns: 123, maxThetaDegrees: 80, frame: 'terminal' };
/** Frame types in the recording, as the dish numbers them. */
const FRAME_TERMINAL = 2;
const SURE = 0.6;
/** Pings before and after a moment whose medians are compared, and how finely moments are looked at. */
const STEP_WINDOW_MS = 1000;
const PROFILE_STEP_MS = 250;

const text = (name) => readFileSync(join(data, name), 'utf8');
const zipped = (name) => gunzipSync(readFileSync(join(data, name))).toString('utf8');

const sources = await bundledSources('scripts/check-serving-satellite.entry.js');
const status = readStatus();
const maps = await readMaps();
const published = text('serving_satellite.csv')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','))
  .map(([time, name]) => ({ atMs: Date.parse(time.replace(' ', 'T')), name }));
await satellites();
handovers();

async function satellites() {
  const { angleBetween, createSkyView, directionOf, LEAST_CANDIDATE_DEGREES, parseElements, ServingSatelliteFinder } =
    sources;
  const view = await createSkyView(parseElements(zipped('starlink-tle.txt.gz'), 'starlink-tle.txt.gz').elements);
  const finder = new ServingSatelliteFinder();
  const byEpoch = new Map();
  let before;
  for (const { atMs, map } of maps) {
    const attitude = near(status, atMs).attitude;
    const inView = view.inView(atMs - 300, PLACE, LEAST_CANDIDATE_DEGREES);
    const found = finder.observe({ map, atMs, handoverMs: HANDOVER_MS, satellites: inView, attitude });
    const epoch = Math.floor((atMs - HANDOVER_MS) / EPOCH_MS);
    const entry = byEpoch.get(epoch) ?? { points: [] };
    byEpoch.set(epoch, entry);
    if (found !== undefined) entry.found = found;
    // The same pixels, for what the published satellites are off by.
    const fresh = before && newPixels(before, map);
    if (fresh !== undefined && atMs - (HANDOVER_MS + epoch * EPOCH_MS) >= 1200) {
      const direction = directionOf(GEOMETRY, fresh, attitude);
      if (direction !== undefined) entry.points.push({ direction, sky: new Map(inView.map((one) => [one.name, one])) });
    }
    before = map;
  }
  const offOf = (name, points) =>
    Math.sqrt(
      points.reduce(
        (sum, { direction, sky }) => sum + (sky.has(name) ? angleBetween(direction, sky.get(name)) ** 2 : 1e4),
        0,
      ) / points.length,
    );
  console.log('## Serving satellite\n');
  console.log('| epoch (UTC) | found | confidence | off its track by | next best | published | off by |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  let sure = 0;
  const offs = [];
  for (const [epoch, { found, points }] of byEpoch) {
    const startMs = HANDOVER_MS + epoch * EPOCH_MS;
    const told = published.find(({ atMs }) => atMs >= startMs && atMs < startMs + EPOCH_MS)?.name;
    const others = points.length === 0 ? [] : [...points[0].sky.keys()].filter((name) => name !== found?.name);
    const next = others.map((name) => offOf(name, points)).sort((a, b) => a - b)[0];
    if (found !== undefined && found.confidence >= SURE) {
      sure++;
      offs.push(found.offDegrees);
    }
    const cells = [
      new Date(startMs).toISOString().slice(11, 19),
      found?.name ?? '',
      found?.confidence.toFixed(2) ?? '',
      found === undefined ? '' : `${found.offDegrees.toFixed(1)}°`,
      next === undefined || next > 90 ? '' : `${next.toFixed(1)}°`,
      told ?? '',
      told === undefined || points.length === 0 ? '' : `${offOf(told, points).toFixed(1)}°`,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  offs.sort((a, b) => a - b);
  const agrees = published.filter(({ atMs, name }) => {
    const found = byEpoch.get(Math.floor((atMs - HANDOVER_MS) / EPOCH_MS))?.found;
    return found?.name === name;
  }).length;
  console.log(
    `\n${sure} of ${byEpoch.size} epochs with a confidence of at least ${SURE}; off by ${quantile(offs, 0.5).toFixed(1)}° (median), ${quantile(offs, 0.9).toFixed(1)}° (90 %).`,
  );
  console.log(`Agrees with what was published in ${agrees} of ${published.length} seconds.\n`);
  byTheirDirections(view);
  view.dispose();
}

/** The same matching on the directions that the other tool made of the pixels: what differs is those, or the matching. */
function byTheirDirections(view) {
  const { angleBetween, LEAST_CANDIDATE_DEGREES } = sources;
  const [head, ...rows] = text('processed_obstruction.csv')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const [time, elevation, azimuth] = ['timestamp', 'Elevation', 'Azimuth'].map((name) => head.indexOf(name));
  const byEpoch = new Map();
  for (const cells of rows) {
    const atMs = Date.parse(cells[time].replace(' ', 'T'));
    const direction = { elevationDegrees: Number(cells[elevation]), azimuthDegrees: Number(cells[azimuth]) };
    const epoch = Math.floor((atMs - HANDOVER_MS) / EPOCH_MS);
    const squares = byEpoch.get(epoch) ?? byEpoch.set(epoch, new Map()).get(epoch);
    for (const one of view.inView(atMs, PLACE, LEAST_CANDIDATE_DEGREES)) {
      squares.set(one.name, [...(squares.get(one.name) ?? []), angleBetween(direction, one) ** 2]);
    }
  }
  console.log('By the directions that the other tool made of the pixels:\n');
  console.log('| epoch (UTC) | nearest | off by | published |');
  console.log('| --- | --- | --- | --- |');
  let agrees = 0;
  for (const [epoch, squares] of byEpoch) {
    const most = Math.max(...[...squares.values()].map((list) => list.length));
    const [[name, off]] = [...squares]
      .filter(([, list]) => list.length === most)
      .map(([name, list]) => [name, Math.sqrt(list.reduce((sum, square) => sum + square, 0) / most)])
      .sort(([, a], [, b]) => a - b);
    const startMs = HANDOVER_MS + epoch * EPOCH_MS;
    const told = published.filter(({ atMs }) => atMs >= startMs && atMs < startMs + EPOCH_MS);
    agrees += told.filter((one) => one.name === name).length;
    console.log(
      `| ${new Date(startMs).toISOString().slice(11, 19)} | ${name} | ${off.toFixed(1)}° | ${told[0]?.name ?? ''} |`,
    );
  }
  console.log(`\nAgrees with what was published in ${agrees} of ${published.length} seconds.\n`);
}

/** Boundaries that the service would announce, from its clock and the dish's pings alone, against steps in other pings. */
function handovers() {
  const { LinkForecaster, SessionClock } = sources;
  const clock = { utcMs: () => nowMs, monotonicMs: () => nowMs };
  let nowMs = status[0].atMs;
  const session = new SessionClock(clock);
  const forecaster = new LinkForecaster(session);
  const announced = [];
  for (const { atMs, latencyMs } of status) {
    nowMs = atMs;
    if (latencyMs > 0) forecaster.observePing(session.nowSeconds(), latencyMs);
    const phaseMs = session.utcMsAt(forecaster.handoverEstimate().phaseSeconds);
    const next = phaseMs + Math.ceil((atMs - phaseMs) / EPOCH_MS) * EPOCH_MS;
    const last = announced.at(-1);
    if (last === undefined || next - last > EPOCH_MS / 2) announced.push(next);
    else announced[announced.length - 1] = next;
  }
  const pings = zipped('ping-10ms.txt.gz')
    .split('\n')
    .map((line) => /^\[(\d+\.\d+)\] .*time=([\d.]+) ms/.exec(line))
    .filter((match) => match !== null)
    .map(([, at, latency]) => ({ atMs: Number(at) * 1000, latencyMs: Number(latency) }));
  // How much the latency changes at each distance from an announced handover, over all of them: clearest where they are.
  const profile = [];
  for (let offsetMs = -7500; offsetMs < 7500; offsetMs += PROFILE_STEP_MS) {
    const steps = announced.map((atMs) => stepAt(pings, atMs + offsetMs)).filter((step) => step !== undefined);
    profile.push({ offsetMs, mean: steps.reduce((sum, step) => sum + step, 0) / steps.length, count: steps.length });
  }
  const overall = profile.reduce((sum, { mean }) => sum + mean, 0) / profile.length;
  const peak = profile.reduce((best, one) => (one.mean > best.mean ? one : best));
  const runnerUp = profile
    .filter(({ offsetMs }) => Math.abs(offsetMs - peak.offsetMs) > 2 * STEP_WINDOW_MS)
    .reduce((best, one) => (one.mean > best.mean ? one : best));
  console.log('## Handover times\n');
  console.log(
    `${pings.length} pings, ${announced.length} announced handovers (by UTC known to 0.5 s; the dish's pings, averages, do not move them).`,
  );
  console.log(
    `The latency's step (medians of ${STEP_WINDOW_MS / 1000} s before and after) is greatest ${(peak.offsetMs / 1000).toFixed(2)} s from them: ` +
      `${peak.mean.toFixed(1)} ms in the mean of ${peak.count}, ${overall.toFixed(1)} ms at any time, ${runnerUp.mean.toFixed(1)} ms at the next peak (${(runnerUp.offsetMs / 1000).toFixed(2)} s).`,
  );
}

/** Size of the step of the latency at a moment: medians of the pings after and before; undefined where there are too few. */
function stepAt(pings, atMs) {
  const between = (from, to) =>
    pings
      .filter((ping) => ping.atMs >= from && ping.atMs < to)
      .map((ping) => ping.latencyMs)
      .sort(ascending);
  const before = between(atMs - STEP_WINDOW_MS, atMs);
  const after = between(atMs, atMs + STEP_WINDOW_MS);
  if (before.length < 8 || after.length < 8) return undefined;
  return Math.abs(quantile(after, 0.5) - quantile(before, 0.5));
}

function readStatus() {
  return text('grpc_status.csv')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
    .map((cells) => ({
      atMs: Number(cells[0]) * 1000,
      latencyMs: Number(cells[3]),
      attitude: cells.slice(13, 17).map(Number),
    }));
}

async function readMaps() {
  const bytes = readFileSync(join(data, 'obstruction_map.parquet'));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const rows = await parquetReadObjects({ file, compressors });
  return rows.map(({ timestamp, obstruction_map, frame_type }) => {
    if (Number(frame_type) !== FRAME_TERMINAL)
      throw new RangeError(`frame_type: expected ${FRAME_TERMINAL}, got ${frame_type}`);
    return { atMs: timestamp * 1000, map: { ...GEOMETRY, snr: Float32Array.from(obstruction_map, Number) } };
  });
}

function newPixels(before, map) {
  const fresh = [];
  for (let i = 0; i < map.snr.length; i++) if (map.snr[i] > 0 && map.snr[i] !== before.snr[i]) fresh.push(i);
  if (fresh.length === 0 || fresh.length > 60) return undefined;
  const mean = (of) => fresh.reduce((sum, i) => sum + of(i), 0) / fresh.length;
  return { row: mean((i) => Math.floor(i / map.columns)), column: mean((i) => i % map.columns) };
}

function near(sorted, atMs) {
  return sorted.reduce((best, one) => (Math.abs(one.atMs - atMs) < Math.abs(best.atMs - atMs) ? one : best));
}

function quantile(sorted, level) {
  return sorted[Math.min(sorted.length - 1, Math.floor(level * sorted.length))];
}

function ascending(a, b) {
  return a - b;
}
