/** Wrong arguments of each entry throw an `InputError` that names the field, before anything is installed. */

import { afterEach, expect, test } from '@jest/globals';
import { displayedLines } from './adapter-kit.ts';
import { ChunkCounter } from './chunk-counter.ts';
import { asPlayer, FakePlayer } from './dash/fake-player.fixture.ts';
import { OldHls } from './hls/fake-player.fixture.ts';
import * as hls from './hls.ts';
import * as index from './index.ts';
import { pageLoad } from './page-host.ts';
import { FakePlayer as FakeShaka } from './shaka/fake-player.fixture.ts';
import * as shaka from './shaka.ts';

type Start = (player: unknown, options: unknown) => unknown;
type OfPlayer = new (player: unknown) => unknown;

/** hls.js makes a controller for the player. */
const ofHls: Start = (player, options) =>
  new (hls.createLeoAbrController(options as object) as unknown as OfPlayer)(player);

const ENTRIES: [name: string, field: string, start: Start, player: object][] = [
  ['dash', 'player', index.attachLeoAbr as Start, new FakePlayer()],
  ['shaka', 'player', shaka.createLeoAbrFactory as Start, new FakeShaka()],
  ['hls', 'hls', ofHls, {}],
];

/** Node has no elements: one has methods, a tag, and no fields of its own. */
class FakeVideo extends EventTarget {
  readonly [Symbol.toStringTag] = 'HTMLVideoElement';
  play() {}
  pause() {}
}

const NO_PLAYERS = [null, undefined, 5, 'video', () => {}, {}, [], new FakeVideo(), { on() {}, off() {} }];

test.each(ENTRIES)('%s: what is no player is refused', (_, field, start) => {
  for (const received of NO_PLAYERS) {
    const expected = { name: 'InputError', field, received };
    expect(() => start(received, { logger: null })).toThrow(expect.objectContaining(expected));
  }
});

const ofOptions: Start = (options) => hls.createLeoAbrController(options as object);

test.each<[string, unknown, own: string, says: string]>([
  ['a player of dash.js', new FakePlayer(), 'dash', 'this is dash.js: use leo-abr)'],
  ['Hls', OldHls, 'hls', 'this is hls.js: use leo-abr/hls)'],
  ['a player of hls.js', new OldHls({ autoStartLoad: false }), 'hls', 'this is hls.js: use leo-abr/hls)'],
  ['shaka.Player', FakeShaka, 'shaka', 'this is Shaka Player: use leo-abr/shaka)'],
  ['a Shaka Player', new FakeShaka(), 'shaka', 'this is Shaka Player: use leo-abr/shaka)'],
  ['MediaPlayer', () => {}, '', 'a function'],
])('%s: where it is wrong, it is said what it is', (_, player, own, says) => {
  for (const [entry, , start] of [...ENTRIES, ['options', '', ofOptions] as const]) {
    const message = own === 'hls' && entry === 'options' ? expect.anything() : expect.stringContaining(says);
    const error = expect.objectContaining({ name: 'InputError', message });
    if (entry !== own) expect(() => start(player, { logger: null })).toThrow(error);
  }
});

test('a destroyed player of dash.js is refused; one without an element is not', () => {
  const player = new FakePlayer();
  const thrown = (error: unknown) => () => {
    throw error;
  };
  const attach = (error: unknown) =>
    index.attachLeoAbr(asPlayer(Object.assign(player, { getVideoElement: thrown(error) })), { logger: null });
  expect(attach('You must first call attachView()').state.status).toBe('attached');
  expect(() => attach(new TypeError('null'))).toThrow('player: expected a dash.js MediaPlayer that is not destroyed');
});

test.each<[unknown, string]>([
  [null, 'options'],
  [{ live: [] }, 'options.live'],
  [{ sizes: '' }, 'options.sizes'],
])('the options %j are refused by all entries', (options, field) => {
  for (const [, , start, player] of ENTRIES) {
    expect(() => start(player, options)).toThrow(expect.objectContaining({ name: 'InputError', field }));
  }
});

const box = (type: string, payloadBytes: number) => {
  const bytes = Buffer.alloc(8 + payloadBytes, 'm');
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
};

/** Three chunks, an empty one among them. */
const BODY = Buffer.concat([
  ...[box('styp', 8), box('moof', 40), box('mdat', 100)],
  ...[box('moof', 40), box('mdat', 0)],
  ...[box('prft', 16), box('moof', 40), box('mdat', 1)],
]);

test.each([1, 3, 7, 8, 9, 50, 1000])('counts each chunk once, where it ends, in parts of %i bytes', (partBytes) => {
  const counter = new ChunkCounter();
  const ends = [];
  for (let at = 0; at < BODY.length; at += partBytes) {
    const part = BODY.subarray(at, at + partBytes);
    for (let chunks = counter.endedIn(part); chunks > 0; chunks--) ends.push(at + part.length);
  }
  const inPart = (end: number) => Math.min(BODY.length, Math.ceil(end / partBytes) * partBytes);
  expect(ends).toEqual([172, 228, BODY.length].map(inPart));
});

const response = (responseStart: number, responseEnd: number, transferSize: number) => {
  return { responseStart, responseEnd, transferSize };
};
const loaded = (...entries: object[]) =>
  pageLoad({ now: () => 100_000, getEntriesByType: () => entries as PerformanceEntryList });

test('counts bits, and the time in which any response arrived', () => {
  const seen = loaded(response(99_000, 99_500, 300_000), response(99_200, 99_700, 100_000));
  expect(seen).toEqual({ bits: 3.2e6, seconds: 0.7 });
  // A pause between two responses is not the link's.
  expect(loaded(response(90_000, 90_500, 150_000), response(99_000, 99_500, 150_000))?.seconds).toBe(1);
});

test.each<[why: string, entries: object[]]>([
  ['a page without resources', []],
  ['caches and other origins', [response(99_000, 99_500, 0)]],
  ['small responses', Array.from({ length: 30 }, (_, i) => response(99_000 + i, 99_001 + i, 10_000))],
  ['too few bits', [response(99_000, 99_500, 150_000)]],
  ['an earlier minute', [response(9000, 9500, 500_000)]],
  ['responses without a duration', [response(99_000, 99_000, 500_000)]],
])('%s: no evidence', (_, entries) => {
  expect(loaded(...entries)).toBeUndefined();
});

const video = (clientWidth: number, clientHeight: number, size = {}) =>
  ({ clientWidth, clientHeight, videoWidth: 1920, videoHeight: 1080, ...size }) as unknown as HTMLVideoElement;

afterEach(() => {
  for (const name of ['devicePixelRatio', 'document', 'screen']) Reflect.deleteProperty(globalThis, name);
});

test('lines of the picture within the element', () => {
  expect(displayedLines(video(1920, 1080))).toBeCloseTo(1080, 9);
  // Bars above and below.
  expect(displayedLines(video(1280, 1080))).toBeCloseTo(720, 9);
  // As many pixels as a 16:9 picture of these lines.
  expect(displayedLines(video(900, 900, { videoWidth: 900, videoHeight: 900 }))).toBeCloseTo(675, 9);
});

test('a denser screen shows more, and a floating window less', () => {
  Object.assign(globalThis, { devicePixelRatio: 4 });
  expect(displayedLines(video(1920, 1080))).toBeCloseTo(2160, 9);
  const floating = video(0, 0);
  Object.assign(globalThis, { document: { pictureInPictureElement: floating }, screen: { height: 1080 } });
  expect(displayedLines(floating)).toBeCloseTo(540, 9);
});

test.each([undefined, null, video(0, 0)])('unknown while nothing is shown', (none) => {
  expect(displayedLines(none)).toBeUndefined();
});
