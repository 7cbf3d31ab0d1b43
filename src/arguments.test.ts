/** Wrong arguments of each entry throw an `InputError` that names the field, before anything is installed. */

import { expect, test } from '@jest/globals';
import { FakePlayer } from './dash/fake-player.fixture.ts';
import * as hls from './hls.ts';
import * as index from './index.ts';
import * as live from './live.ts';
import * as mpcD from './mpc-d.ts';
import { FakePlayer as FakeShaka } from './shaka/fake-player.fixture.ts';
import * as shaka from './shaka.ts';

type Entry = readonly [name: string, start: (player: unknown, options?: unknown) => unknown, player: object];

const ATTACHING: Entry[] = Object.entries({ index, live, mpcD }).map(([name, { attachLeoAbr }]) => [
  name,
  attachLeoAbr as Entry[1],
  new FakePlayer(),
]);
const ENTRIES: Entry[] = [
  ...ATTACHING,
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

test.each(ENTRIES.filter(([name]) => name !== 'hls'))('%s: what is no player is refused', (_, start) => {
  for (const player of NO_PLAYERS) {
    const expected = { name: 'InputError', field: 'player', received: player };
    expect(() => start(player, { logger: null })).toThrow(expect.objectContaining(expected));
  }
});

test('hls: a controller that is made for what is no player is refused', () => {
  const Controller = hls.createLeoAbrController({ logger: null }) as unknown as new (player: unknown) => unknown;
  for (const player of NO_PLAYERS) {
    const expected = { name: 'InputError', field: 'hls', received: player };
    expect(() => new Controller(player)).toThrow(expect.objectContaining(expected));
  }
});

test.each<[unknown, string]>([
  [null, 'options'],
  [5, 'options'],
  [[], 'options'],
  [new FakeVideo(), 'options'],
  [new Map(), 'options'],
  [{ live: [] }, 'options.live'],
  [{ sizes: '' }, 'options.sizes'],
  [{ sizes: [] }, 'options.sizes'],
  [{ sizes: {} }, 'sizes.representations'],
  [{ toString: 1 }, 'options.toString'],
])('the options %j are refused by all entries', (options, field) => {
  for (const [, start, player] of ENTRIES) {
    expect(() => start(player, options)).toThrow(expect.objectContaining({ name: 'InputError', field }));
  }
});
