import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type MapGeometry, type ObstructionMap, pixelOf } from '../dish/obstruction-map.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Place } from '../place.ts';
import { Problems } from '../problems.ts';
import { shellText } from './constellation.fixture.ts';
import { ElementSource, type ElementSourceOptions } from './element-source.ts';
import { parseElements } from './elements.ts';
import { Sky } from './sky.ts';
import { createSkyView } from './sky-view.ts';

const NOW_MS = new ManualClock().utcMs();
const SHELL = shellText({ planes: 36, perPlane: 22, epochMs: NOW_MS - 3_600_000 });
const MUNICH = { latitudeDegrees: 48.1374, longitudeDegrees: 11.5755, altitudeMetres: 520 };
const GEOMETRY: MapGeometry = { rows: 123, columns: 123, maxThetaDegrees: 80, frame: 'earth' };

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leo-abr-sky-'));
  writeFileSync(at('shell.tle'), SHELL);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function source(options: Partial<ElementSourceOptions> = {}) {
  const clock = new ManualClock();
  const problems = new Problems(clock);
  const made = new ElementSource({
    source: at('shell.tle'),
    cacheDirectory: at('cache'),
    maxAgeDays: 7,
    clock,
    problems,
    ...options,
  });
  return { source: made, clock, problems };
}

describe('satellites in view', () => {
  test('are where a satellite of a textbook is', async () => {
    // Vallado's test case of SGP4 for satellite 00005 at its epoch: 7022.465, -1400.083, 0.040 km in TEME.
    const text = [
      '1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753',
      '2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667',
    ].join('\n');
    const { elements } = parseElements(text, 'x');
    const view = await createSkyView(elements);
    // From the centre of the earth (almost) it is straight above the point below it: 7161 km less the earth's radius.
    const [satellite] = view.inView(
      elements[0]!.epochMs,
      { latitudeDegrees: 0, longitudeDegrees: 0, altitudeMetres: 0 },
      -90,
    );
    expect(satellite!.name).toBe('NORAD 00005');
    const highest = Math.max(
      ...Array.from({ length: 360 }, (_, longitudeDegrees) => {
        const from = { latitudeDegrees: 0, longitudeDegrees: longitudeDegrees - 180, altitudeMetres: 0 };
        return view.inView(elements[0]!.epochMs, from, -90)[0]!.elevationDegrees;
      }),
    );
    expect(highest).toBeGreaterThan(89);
    view.dispose();
  });

  test('come highest first, and none below the limit', async () => {
    const view = await createSkyView(parseElements(SHELL, 'x').elements);
    expect(view.size).toBe(36 * 22);
    const seen = view.inView(NOW_MS, MUNICH, 25);
    expect(seen.length).toBeGreaterThan(5);
    seen.slice(1).forEach(({ elevationDegrees }, i) => {
      expect(elevationDegrees).toBeLessThanOrEqual(seen[i]!.elevationDegrees);
      expect(elevationDegrees).toBeGreaterThanOrEqual(25);
    });
    for (const { distanceKm } of seen) expect(distanceKm > 500 && distanceKm < 1300).toBe(true);
    view.dispose();
  });
});

describe('the serving satellite', () => {
  test('is found from what is painted into the map, and a change of it is told', async () => {
    const { source: elements, clock, problems } = source();
    const changes: { from: string; to: string; atMs: number }[] = [];
    const place = new Place({ given: MUNICH });
    const firstHandoverMs = clock.utcMs() + 12_000;
    const sky = new Sky({
      source: elements,
      place,
      clock,
      problems,
      handoverMs: () => firstHandoverMs,
      onChange: (change) => changes.push(change),
    });
    await sky.refresh();
    const view = await createSkyView(parseElements(SHELL, 'x').elements);
    const snr = new Float32Array(123 * 123).fill(-1);
    const served: string[] = [];
    let right = 0;
    let wrong = 0;
    for (let second = 1; second <= 132; second++) {
      clock.advance(1);
      const epoch = Math.floor((clock.utcMs() - 1 - firstHandoverMs) / 15_000);
      const visible = view.inView(clock.utcMs() - 500, MUNICH, 15);
      // The dish takes one of the higher ones, another each epoch.
      if (served[epoch + 1] === undefined) served[epoch + 1] = visible[(epoch + 7) % 5]!.name;
      const satellite = visible.find(({ name }) => name === served[epoch + 1])!;
      const pixel = pixelOf(GEOMETRY, satellite)!;
      snr[Math.round(pixel.row) * 123 + Math.round(pixel.column)] = 1;
      const map: ObstructionMap = { ...GEOMETRY, snr: snr.slice() };
      sky.observeMap(map, clock.utcMs());
      const { serving } = sky.reply();
      const intoEpoch = (clock.utcMs() - 1 - firstHandoverMs - epoch * 15_000) / 1000;
      if (intoEpoch < 9 || serving === undefined) continue;
      if (serving.name === served[epoch + 1]) right++;
      else wrong++;
    }
    expect(right).toBeGreaterThan(40);
    expect(wrong).toBeLessThan(right * 0.05);
    expect(changes.length).toBeGreaterThan(5);
    for (const { from, to, atMs } of changes) {
      expect(from).not.toBe(to);
      expect((atMs - firstHandoverMs) % 15_000 === 0).toBe(true);
    }
    sky.dispose();
    view.dispose();
  });

  test('shows satellites from the place that may be shown, not from where the dish is', async () => {
    const { source: elements, clock, problems } = source();
    const rest = { source: elements, clock, problems, handoverMs: () => 0, onChange: () => {} };
    const sky = new Sky({ ...rest, place: new Place({ given: MUNICH }) });
    await sky.refresh();
    const near = new Sky({
      ...rest,
      source: source().source,
      place: new Place({ given: { ...MUNICH, latitudeDegrees: 48.0612 } }),
    });
    await near.refresh();
    expect(sky.reply().state).toBe('running');
    expect(sky.reply().inView).toEqual(near.reply().inView);
    const without = new Sky({ ...rest, source: source().source, place: new Place({}) });
    await without.refresh();
    expect(without.reply()).toMatchObject({ state: 'no-location', inView: [] });
  });
});

describe('where elements come from', () => {
  test('a file; those that are too old are refused, and said to be', async () => {
    const { source: elements, clock, problems } = source();
    expect(await elements.refresh()).toBe(true);
    expect(elements.isFresh).toBe(true);
    expect(elements.ageMs).toBeCloseTo(3_600_000, -1);
    clock.advance(8 * 86_400);
    expect(await elements.refresh()).toBe(true);
    expect(elements.isFresh).toBe(false);
    expect(problems.list()).toMatchObject([
      { part: 'sky', code: 'elements-too-old', message: 'the newest are 8.0 days old, expected at most 7' },
    ]);
  });

  test('a file that is missing, or garbage, is a problem and no more', async () => {
    for (const [name, content] of [
      ['none.tle', undefined],
      ['garbage.tle', '\u0000\u0001'],
      ['broken.tle.gz', 'no gzip'],
    ] as const) {
      if (content !== undefined) writeFileSync(at(name), content);
      const { source: elements, problems } = source({ source: at(name) });
      expect(await elements.refresh()).toBe(false);
      expect(problems.list()).toMatchObject([
        { part: 'sky', code: 'no-elements', message: expect.stringContaining(name) },
      ]);
    }
  });

  test('a URL, with a copy on disk for when it does not answer; its secrets are not shown', async () => {
    let answer: () => Response = () => new Response(SHELL);
    let asked = 0;
    const url = 'https://user:hunter2@space.example/tle?key=hunter2';
    const options = {
      source: url,
      cacheDirectory: at('copies'),
      fetch: (async () => {
        asked++;
        return answer();
      }) as unknown as typeof fetch,
    };
    const first = source(options);
    await first.source.refresh();
    expect(first.source.set!.elements).toHaveLength(36 * 22);
    expect(readFileSync(at('copies/elements.tle'), 'utf8')).toBe(SHELL);
    // Asked again only after some hours.
    first.clock.advance(3600);
    await first.source.refresh();
    expect(asked).toBe(1);
    answer = () => new Response('<html>', { status: 200 });
    first.clock.advance(6 * 3600);
    await first.source.refresh();
    expect(asked).toBe(2);
    expect(first.source.set!.elements).toHaveLength(36 * 22);
    expect(first.problems.list()).toMatchObject([{ code: 'elements-from-copy' }]);
    expect(JSON.stringify(first.problems.list())).not.toContain('hunter2');
    expect(readFileSync(at('copies/elements.tle'), 'utf8')).toBe(SHELL);
    // A start without the internet.
    utimesSync(at('copies/elements.tle'), 1e9, 1e9);
    answer = () => new Response('', { status: 503 });
    const second = source(options);
    await second.source.refresh();
    expect(second.source.set!.elements).toHaveLength(36 * 22);
    const third = source({ ...options, cacheDirectory: at('nothing') });
    await third.source.refresh();
    expect(third.problems.list()).toMatchObject([
      { code: 'no-elements', message: 'https://space.example/tle: expected an answer with success, got status 503' },
    ]);
  });
});
