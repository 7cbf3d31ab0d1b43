/** Wrong arguments of each entry throw an `InputError` that names the field, before anything is installed. */

import { expect, test } from '@jest/globals';
import { FakePlayer } from './dash/fake-player.fixture.ts';
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

test.each<[unknown, string]>([
  [null, 'options'],
  [{ live: [] }, 'options.live'],
  [{ sizes: '' }, 'options.sizes'],
])('the options %j are refused by all entries', (options, field) => {
  for (const [, , start, player] of ENTRIES) {
    expect(() => start(player, options)).toThrow(expect.objectContaining({ name: 'InputError', field }));
  }
});
