import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { serving } from '../../replay/serving.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { Problems } from '../problems.ts';
import { ElementSource, type ElementSourceOptions } from './element-source.ts';
import { parseElements } from './elements.ts';
import { Sky, satellitesInView } from './sky.ts';

const NOW_MS = new ManualClock().utcMs();
const SHELL = shellText({ planes: 36, perPlane: 22, epochMs: NOW_MS - 3_600_000 });
const MUNICH = { latitudeDegrees: 48.1374, longitudeDegrees: 11.5755 };

const at = temporaryFolder('file');
beforeAll(() => writeFileSync(at('shell.tle'), SHELL));

function source(options: Partial<ElementSourceOptions> = {}) {
  const clock = new ManualClock();
  const problems = new Problems(clock);
  const defaults = { source: at('shell.tle'), cacheDirectory: at('cache'), maxAgeDays: 7 };
  const made = new ElementSource({ ...defaults, clock, problems, ...options });
  return { source: made, clock, problems };
}

async function refreshed(options: Partial<ElementSourceOptions> = {}) {
  const made = source(options);
  await made.source.refresh();
  return made;
}

const countOf = ({ set }: ElementSource) => set?.length;
const ALL = 36 * 22;

test("satellites in view match Vallado's reference case", () => {
  // Vallado's test case of SGP4 has satellite 00005 at 7022.465, -1400.083, 0.040 km in TEME at its epoch.
  const text = [
    '1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753',
    '2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667',
  ].join('\n');
  const elements = parseElements(text, 'x', 0).set;
  const seenFrom = (longitudeDegrees: number) => {
    const from = { latitudeDegrees: 0, longitudeDegrees };
    return satellitesInView(elements, { utcMs: elements[0]!.epochMs, from, leastDegrees: -90 })[0]!;
  };
  expect(seenFrom(0).name).toBe('NORAD 00005');
  // Seen from a point on the equator, the satellite is near the zenith.
  const longitudes = Array.from({ length: 360 }, (_, i) => i - 180);
  expect(Math.max(...longitudes.map((longitude) => seenFrom(longitude).elevationDegrees))).toBeGreaterThan(89);
});

test('the sky shows what is above 25 degrees at a place, without one nothing', async () => {
  const { source: elements, clock } = source();
  const sky = new Sky({ source: elements, clock, place: () => MUNICH });
  expect(sky.reply()).toEqual({ state: 'no-elements', satellites: 0, inView: [] });
  await elements.refresh();
  const { state, satellites, inView, elementsAgeHours } = sky.reply();
  expect({ state, satellites }).toEqual({ state: 'running', satellites: ALL });
  expect(elementsAgeHours).toBeCloseTo(1);
  expect(inView.length).toBeGreaterThan(5);
  const elevations = inView.map(({ elevationDegrees }) => elevationDegrees);
  expect(elevations).toEqual([...elevations].sort((a, b) => b - a));
  expect(elevations.at(-1)).toBeGreaterThanOrEqual(25);
  clock.advance(4);
  expect(sky.reply().inView).toEqual(inView);
  clock.advance(1);
  expect(sky.reply().inView).not.toEqual(inView);
  const without = new Sky({ source: elements, clock, place: () => undefined });
  expect(without.reply()).toMatchObject({ state: 'no-location', inView: [] });
  clock.advance(8 * 86_400);
  expect(sky.reply()).toMatchObject({ state: 'elements-too-old', satellites: ALL, inView: [] });
});

test('the source of elements reads a file, and reports elements that are too old', async () => {
  // One of them is wrong, and a line of another.
  const wrong = [...elementLines(12345, NOW_MS + 300 * 86_400_000), ...elementLines(1, NOW_MS)];
  writeFileSync(at('future.tle'), `${SHELL}${wrong.join('\n')}`);
  const { source: elements, clock, problems } = await refreshed({ source: at('future.tle') });
  const wrongLine = { code: 'wrong-elements', message: expect.stringContaining(`future.tle:${3 * ALL + 3}: expected`) };
  expect([elements.fresh.length, problems.list()]).toMatchObject([ALL, [wrongLine]]);
  problems.clear('sky', 'wrong-elements');
  expect(elements.ageMs).toBeCloseTo(3_600_000, -1);
  const problemsAfterLeap = async (days: number) => {
    clock.leap(days * 86_400);
    clock.advance(60);
    await elements.refresh();
    return problems.list();
  };
  const tooOld = [{ part: 'sky', code: 'elements-too-old' }];
  // Elements from the future are as wrong as old elements.
  expect(await problemsAfterLeap(-20)).toMatchObject(tooOld);
  expect(await problemsAfterLeap(20)).toEqual([]);
  // The age is checked even if the elements are not read again.
  const message = 'the newest are 20.0 days old, expected at most 7';
  expect(await problemsAfterLeap(20)).toMatchObject([{ ...tooOld[0], message }]);
  expect(elements.fresh).toEqual([]);
});

test('the source of elements reports what it cannot read, without a folder, the query of a URL or what a server says', async () => {
  writeFileSync(at('garbage.tle'), '\u0000\u0001');
  const server = await serving(({ url = '' }, response) => {
    const endless = () => response.write(' '.repeat(1e6), (error) => error || endless());
    if (url.startsWith('/endless')) endless();
    else if (url.startsWith('/page')) response.end('<p>no account with hunter2</p>');
    else response.writeHead(403, 'hunter2').end('hunter2');
  });
  const gone = await serving(() => {});
  gone.close();
  const none =
    'expected two-line elements (lines of 69 characters that begin with 1 and 2, with their checksums), got none in 1 lines';
  for (const [address, message] of Object.entries({
    [at('none.tle')]: 'none.tle: it cannot be read (ENOENT)',
    [at('garbage.tle')]: `garbage.tle: ${none}`,
    [`${server.url}/endless`]: expect.stringContaining('/endless: expected at most 32000000 characters, got 3'),
    [`${server.url}/page?key=hunter2`]: `${server.url}/page: ${none}`,
    [`${server.url}/none?key=hunter2`]: `${server.url}/none: expected an answer with success, got 403`,
    [`${gone.url}/tle?key=hunter2`]: `${gone.url}/tle: it cannot be read (ECONNREFUSED)`,
  })) {
    const { problems } = await refreshed({ source: address, cacheDirectory: at('unread') });
    expect(problems.list()).toMatchObject([{ part: 'sky', code: 'no-elements', message }]);
  }
});

test('the source of elements downloads a URL and falls back to a copy on disk', async () => {
  let isGarbage = false;
  let requests = 0;
  const server = await serving((_, response) => {
    requests++;
    response.end(isGarbage ? '<html>' : SHELL);
  });
  const options = { source: `${server.url}/tle`, cacheDirectory: at('copies') };
  const first = await refreshed(options);
  const refreshAfter = async ({ source: elements, clock }: typeof first, seconds: number) => {
    clock.advance(seconds);
    await elements.refresh();
    expect(countOf(elements)).toBe(ALL);
    expect(copies('copies')).toEqual([SHELL]);
    return requests;
  };
  // The source downloads again only after some hours.
  expect(await refreshAfter(first, 3600)).toBe(1);
  isGarbage = true;
  expect(await refreshAfter(first, 6 * 3600)).toBe(2);
  expect(first.problems.list()).toMatchObject([{ code: 'elements-not-renewed' }]);
  // It retries soon after a failure, and clears the problem after a success.
  isGarbage = false;
  expect(await refreshAfter(first, 900)).toBe(3);
  expect(first.problems.list()).toEqual([]);
  // A start without internet uses an old copy and retries soon.
  isGarbage = true;
  touchCopies('copies', 0);
  expect(await refreshAfter(await refreshed(options), 900)).toBe(5);
});

test('the source of elements keeps those in use if the URL answers with older ones, and reports them once', async () => {
  const older = shellText({ planes: 2, perPlane: 3, epochMs: NOW_MS - 2 * 86_400_000 });
  const server = await serving((_, response) => response.end(texts.shift()));
  const options = { source: `${server.url}/tle`, cacheDirectory: at('older') };
  const texts = [SHELL, older, older, older, SHELL];
  const { source: elements, clock, problems } = await refreshed(options);
  let changes = 0;
  problems.onChange = () => changes++;
  for (const seconds of [6 * 3600, 900]) {
    clock.advance(seconds);
    await elements.refresh();
    const got = 'expected elements as new as those in use, got those of 2025-12-30T12:00:00.000Z';
    expect(problems.list()).toMatchObject([{ code: 'elements-not-renewed', message: `${server.url}/tle: ${got}` }]);
  }
  // After a restart, the copy counts as in use, however old it is.
  touchCopies('older', 0);
  const { source: restarted } = await refreshed(options);
  expect([countOf(elements), countOf(restarted), changes, copies('older')]).toEqual([ALL, ALL, 1, [SHELL]]);
  clock.advance(900);
  await elements.refresh();
  expect(problems.list()).toEqual([]);
});

test('the source of elements keeps one copy per URL', async () => {
  const other = shellText({ planes: 2, perPlane: 3, epochMs: NOW_MS });
  const requests: unknown[] = [];
  const server = await serving(({ url }, response) => {
    requests.push(url);
    response.end(url === '/starlink' ? SHELL : other);
  });
  const sizes: unknown[] = [];
  for (const path of ['starlink', 'other', 'starlink', 'other?group=x']) {
    const made = await refreshed({ source: `${server.url}/${path}`, cacheDirectory: at('addresses') });
    touchCopies('addresses');
    sizes.push(countOf(made.source));
  }
  expect(sizes).toEqual([ALL, 6, ALL, 6]);
  // The third refresh used the copy, as after a restart.
  expect(requests).toEqual(['/starlink', '/other', '/other?group=x']);
});

test('the source of elements downloads a URL if the copy is invalid or cannot be written', async () => {
  const server = await serving((_, response) => response.end(SHELL));
  const options = { source: `${server.url}/tle`, cacheDirectory: at('broken') };
  await refreshed(options);
  for (const name of readdirSync(at('broken'))) writeFileSync(at(`broken/${name}`), 'tea');
  touchCopies('broken');
  const second = await refreshed(options);
  const third = await refreshed({ ...options, cacheDirectory: at('shell.tle') });
  expect([second, third].map((made) => countOf(made.source))).toEqual([ALL, ALL]);
  expect(third.problems.list()).toEqual([]);
});

function copies(name: string): string[] {
  return readdirSync(at(name)).map((file) => readFileSync(at(`${name}/${file}`), 'utf8'));
}

/** Sets the modification time of copies, which the file system takes from the system clock. */
function touchCopies(name: string, utcMs = NOW_MS): void {
  for (const file of readdirSync(at(name))) utimesSync(at(`${name}/${file}`), utcMs / 1000, utcMs / 1000);
}

/** The elements of the ISS that many textbooks have as their example. */
const ISS = `ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537
`;

test('elements are parsed with names and epochs', () => {
  const { set: elements, fault } = parseElements(`\n# orbits\n${ISS}`, 'iss.tle', NOW_MS);
  expect(fault).toBeUndefined();
  expect(elements).toMatchObject([{ name: 'ISS (ZARYA)' }]);
  // The epoch is the middle of day 264 of 2008.
  expect(new Date(elements[0]!.epochMs).toISOString()).toBe('2008-09-20T12:25:40.104Z');
});

test('elements do not need names, and those of a satellite that are nearest to now are used', () => {
  const lines = [2, 1, 9].flatMap((day) => elementLines(12345, Date.UTC(2026, 0, day)));
  const { set, fault } = parseElements(`\ufeff${lines.join('\r\n')}`, 'x', Date.UTC(2026, 0, 3));
  expect(fault).toBeUndefined();
  expect(set).toMatchObject([{ name: 'NORAD 12345', epochMs: Date.UTC(2026, 0, 2) }]);
});

/** Changes to six satellites, of three lines each, which then lack `without`. The message has the first fault. */
test.each<[string, (lines: string[]) => void, number[], string]>([
  ['a wrong digit', (lines) => spoil(lines, 5, '53.0', '54.0'), [1], '6: expected checksum 9 in column 69, got 8'],
  ['a letter', (lines) => spoil(lines, 2, '0001000', '000100O'), [0], '3: expected a number in columns 27 to 33'],
  ['shifted fields', (lines) => spoil(lines, 2, ' 53.0000', '53.0000 '), [], ''],
  ['a short line', (lines) => spoil(lines, 4, /.$/, ''), [1], '5: expected 69 characters, got 68'],
  ['no orbit', (lines) => spoil(lines, 2, '15.06000000    18', '00.00000000    16'), [0], '2: expected an orbit'],
  ['a lost line 1', (lines) => lines.splice(4, 1), [1], '5: expected a line 1, followed by a line 2 of the same'],
  ['a lost line 2', (lines) => lines.splice(5, 1), [1], '5: expected a line 1, followed by a line 2 of the same'],
  ['another number', (lines) => spoil(lines, 4, '50001', '50009'), [1], '5: expected a line 1, followed by a line 2'],
  ['a name alone', (lines) => lines.splice(4, 2), [1], '4: expected elements after the name'],
  ['a last name alone', (lines) => lines.splice(16), [5], '16: expected elements after the name'],
  ['HTML', (lines) => lines.splice(3, 0, '<html>'), [], '4: expected elements after the name'],
  ['no name', (lines) => lines.splice(3, 1), [], ''],
])('the rest of elements with %s is used, with one message', (_, change, without, message) => {
  const lines = shellText({ planes: 3, perPlane: 2, epochMs: NOW_MS }).trimEnd().split('\n');
  change(lines);
  const { set, fault } = parseElements(lines.join('\n'), 'x', NOW_MS);
  const left = [0, 1, 2, 3, 4, 5].filter((i) => !without.includes(i));
  expect(set.map(({ orbit }) => Number(orbit.satnum) - 50_000)).toEqual(left);
  const [count = '', first = ''] = fault?.split(', the first x:') ?? [];
  expect(count.replace(/\d+$/, 'n')).toBe(message && 'satellites are left out because of wrong lines: n');
  expect(first.slice(0, message.length)).toBe(message);
});

function spoil(lines: string[], at: number, from: string | RegExp, to: string): void {
  const line = lines[at]!.replace(from, to);
  expect(line).not.toBe(lines[at]);
  lines[at] = line;
}

test('a text without elements is rejected', () => {
  expect(() => parseElements('', 'x', 0)).toThrow('got none in 0 lines');
  const wrong = 'got none in 3 lines, the first x:2: expected checksum 7 in column 69, got 6';
  expect(() => parseElements(ISS.replace('2927', '2926'), 'x', 0)).toThrow(wrong);
  // The time grows with the length, not with its square.
  expect(() => parseElements(' '.repeat(1e6), 'x', 0)).toThrow('got none in 0 lines');
});

test('the parser throws only InputErrors', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(...ISS.split('\n')), fc.constant('\n'));
  forAll([fc.array(piece, { maxLength: 30 })], { seed: 1, numRuns: 300 }, (pieces) => {
    try {
      for (const { epochMs } of parseElements(pieces.join('\n'), 'x', 0).set) expect(epochMs).not.toBeNaN();
    } catch (error) {
      expect((error as Error).name).toBe('InputError');
    }
  });
});

/** A synthetic constellation as two-line elements: evenly spread circular orbits of a shell. */
function shellText({ planes, perPlane, epochMs }: { planes: number; perPlane: number; epochMs: number }) {
  const lines: string[] = [];
  for (let plane = 0; plane < planes; plane++) {
    for (let place = 0; place < perPlane; place++) {
      const number = 50_000 + plane * perPlane + place;
      const node = (360 * plane) / planes;
      const anomaly = ((360 * place) / perPlane + (360 * plane * 0.37) / planes) % 360;
      lines.push(`FAKE-${number}`, ...elementLines(number, epochMs, { node, anomaly }));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Lines of an orbit with an inclination of 53 degrees and an altitude of 550 km, as most of Starlink has. */
function elementLines(number: number, epochMs: number, { node, anomaly } = { node: 1, anomaly: 2 }) {
  const year = new Date(epochMs).getUTCFullYear();
  const day = (epochMs - Date.UTC(year, 0, 1)) / 86_400_000 + 1;
  const epoch = `${String(year % 100).padStart(2, '0')}${day.toFixed(8).padStart(12, '0')}`;
  const [nodeText, anomalyText] = [node, anomaly].map((degrees) => degrees.toFixed(4).padStart(8));
  return [
    `1 ${number}U 20001A   ${epoch}  .00000000  00000+0  00000+0 0  999`,
    `2 ${number}  53.0000 ${nodeText} 0001000  90.0000 ${anomalyText} 15.06000000    1`,
  ].map((line) => line + ([...line].reduce((sum, digit) => sum + (Number(digit) || 0), 0) % 10));
}
