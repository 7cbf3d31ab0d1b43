/** Wrong arguments of each entry throw an `InputError` that names the field, before anything is installed. */

import { expect, test } from '@jest/globals';
import { asPlayer, FakePlayer } from './dash/fake-player.fixture.ts';
import { OldHls } from './hls/fake-player.fixture.ts';
import * as hls from './hls.ts';
import * as index from './index.ts';
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
