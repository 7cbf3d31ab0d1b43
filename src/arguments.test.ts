/** Wrong arguments of each entry throw an `InputError` that names the field, before anything is installed. */

import { expect, test } from '@jest/globals';
import { FakePlayer } from './dash/fake-player.fixture.ts';
import * as hls from './hls.ts';
import * as index from './index.ts';
import { FakePlayer as FakeShaka } from './shaka/fake-player.fixture.ts';
import * as shaka from './shaka.ts';

type Entry = readonly [name: string, start: (player: unknown, options?: unknown) => unknown, player: object];

const ENTRIES: Entry[] = [
  ['dash', index.attachLeoAbr as Entry[1], new FakePlayer()],
  ['shaka', shaka.createLeoAbrFactory as Entry[1], new FakeShaka()],
  ['hls', (_, options) => hls.createLeoAbrController(options as object), {}],
];

/** Node has no elements: one has methods, a tag, and no fields of its own. */
class FakeVideo extends EventTarget {
  readonly [Symbol.toStringTag] = 'HTMLVideoElement';
  play() {}
  pause() {}
}

const NO_PLAYERS = [null, undefined, 5, 'video', () => {}, {}, [], new FakeVideo(), { on() {}, off() {} }];

/** Makes a controller for the player, which hls.js does. */
const ofHls: Entry[1] = (player) =>
  new (hls.createLeoAbrController({ logger: null }) as unknown as new (player: unknown) => unknown)(player);

test.each([
  ['dash', 'player', ENTRIES[0]![1]],
  ['shaka', 'player', ENTRIES[1]![1]],
  ['hls', 'hls', ofHls],
])('%s: what is no player is refused', (_, field, start) => {
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
  for (const [, start, player] of ENTRIES) {
    expect(() => start(player, options)).toThrow(expect.objectContaining({ name: 'InputError', field }));
  }
});
