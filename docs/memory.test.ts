/** Hours of a live channel leave no more memory than the first one, and many attachments no more than a few. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../abr/statistics/random.ts';
import { STORAGE_KEY } from '../session/forecasting/prior-forecaster.ts';
import type { LeoAbrHandle } from '../session/page/handle.ts';
import { useManualClock, wait } from '../session/scripted.fixture.ts';
import { LADDER_BPS, ranges } from '../session/stand-in.fixture.ts';
import * as dash from '../src/dash/fake-player.fixture.ts';
import * as hls from '../src/hls/fake-player.fixture.ts';
import { attachLeoAbr } from '../src/index.ts';
import * as shaka from '../src/shaka/fake-player.fixture.ts';

useManualClock();
hls.useWindow();

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes after garbage collection. Objects that one turn has touched are collected in a later turn. */
async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

const HOUR_SECONDS = 3600;
/** The limit has room for code that V8 optimises late. If each download left 400 bytes, the growth would be larger. */
const MOST_GROWTH_BYTES = 1e6;
const SEGMENT_SECONDS = 10;
/** Time between two progress events. */
const STEP_SECONDS = 0.2;

let stored: Map<string, string>;
beforeEach(() => {
  stored = new Map();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  };
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value: storage });
});

/** A live channel, 12 s behind its capture, in whole segments over a link that varies and fails at times. */
function channel() {
  const player = dash.livePlayer({ lowLatency: false });
  player.representations = player.representations.map((one) => ({ ...one, segmentDuration: SEGMENT_SECONDS }));
  player.live!.targetSeconds = 12;
  const startedMs = Date.now() - 100_000;
  const now = () => (Date.now() - startedMs) / 1000;
  player.getCurrentLiveLatency = () => now() - player.media.currentTime;
  Object.assign(player, { getSource: () => 'https://media.example/live.mpd' });
  const handle = attachLeoAbr(dash.asPlayer(player), { logger: null });
  player.instantiateRules();
  player.emit('updateTimeSyncOffset', { offset: 0 });
  player.plays();
  const random = seededRandom(1);
  let index = 9;
  const show = () => {
    player.media.currentTime = now() - 12;
    const end = Math.max(player.media.currentTime, index * SEGMENT_SECONDS);
    player.media.buffered = ranges([[end - 60, end]]);
    player.bufferLevelSeconds = end - player.media.currentTime;
  };
  const download = () => {
    const representation = player.ask()!;
    let sizeBits = SEGMENT_SECONDS * LADDER_BPS[representation]!;
    let sent = player.send(index, representation, { startTime: index * SEGMENT_SECONDS, duration: SEGMENT_SECONDS });
    const failsUntil = random() < 0.05 ? now() + 6 : 0;
    for (let arrived = 0; arrived < sizeBits; ) {
      wait(STEP_SECONDS);
      show();
      if (player.qualitySet.length > 0) {
        const lower = player.abandon(sent);
        [arrived, sizeBits] = [0, SEGMENT_SECONDS * LADDER_BPS[lower]!];
        sent = player.send(index, lower, { startTime: index * SEGMENT_SECONDS, duration: SEGMENT_SECONDS });
      }
      const bps = now() < failsUntil ? 1e4 : 8e7 * (1 + 4 * random());
      arrived = Math.min(sizeBits, arrived + bps * STEP_SECONDS);
      sent.arrived(arrived);
    }
    sent.completed(sizeBits);
    index++;
    show();
  };
  const playUntil = (seconds: number) => {
    while (now() - 100 < seconds) {
      // The next segment exists when its end has been captured.
      wait(Math.max(0.1, (index + 1) * SEGMENT_SECONDS - now()));
      show();
      download();
    }
  };
  return { player, handle, playUntil, downloads: () => index - 9 };
}

test('four hours of a live channel leave no more than the first one', async () => {
  const { player, handle, playUntil, downloads } = channel();
  playUntil(HOUR_SECONDS);
  const seen = () => ({ listeners: player.left, timers: jest.getTimerCount(), faults: handle.state.faults });
  const before = seen();
  const heapBefore = await heapBytes();
  const storedBytes = stored.get(STORAGE_KEY)!.length;
  playUntil(4 * HOUR_SECONDS);
  expect((await heapBytes()) - heapBefore).toBeLessThan(MOST_GROWTH_BYTES);
  expect(downloads()).toBeGreaterThan(1300);
  expect(handle.state.wastedBits).toBeGreaterThan(0);
  expect(seen()).toEqual({ ...before, timers: 1, faults: [] });
  expect([...stored.keys()]).toEqual([STORAGE_KEY]);
  expect(stored.get(STORAGE_KEY)!.length).toBeLessThan(storedBytes + 20);
  handle.detach();
  expect([player.left, jest.getTimerCount()]).toEqual([0, 0]);
});

/** An attachment. `end` ends the use of the source. */
interface Cycle {
  player: { left: number; load?(): void; send(index: number): { arrived(bits: number): void } };
  handle: LeoAbrHandle;
  end(): void;
}

/** Makes attachments to a player that stays. hls.js gets the plugin in its constructor, so each has its own player. */
const PLAYERS: Record<string, () => () => Cycle> = {
  'dash.js'() {
    const player = new dash.FakePlayer();
    // The stand-in records its updates.
    const end = () => player.updates.splice(0);
    return () => ({ ...dash.attached({}, player), end });
  },
  'hls.js': () => () => {
    const seen = hls.attached();
    return { ...seen, end: () => seen.hls.destroy() };
  },
  'Shaka Player'() {
    const player = new shaka.FakePlayer();
    const end = () => {
      player.destroy();
      player.own.splice(0);
    };
    return () => ({ ...shaka.attached({}, player), end });
  },
};

test.each(Object.entries(PLAYERS))('200 times attached to %s and detached, it leaves nothing', async (_, prepare) => {
  const attach = prepare();
  const handles: WeakRef<LeoAbrHandle>[] = [];
  const cycles = (count: number) => {
    for (let cycle = 0; cycle < count; cycle++) {
      const { player, handle, end } = attach();
      player.load?.();
      player.send(0).arrived(1e5);
      wait(0.5);
      handle.detach();
      expect([player.left, handle.state.faults]).toEqual([0, []]);
      end();
      expect(jest.getTimerCount()).toBe(0);
      handles.push(new WeakRef(handle));
    }
  };
  cycles(20);
  const heapBefore = await heapBytes();
  cycles(200);
  const growthBytes = (await heapBytes()) - heapBefore;
  expect(handles.filter((handle) => handle.deref()).length).toBeLessThan(20);
  expect(growthBytes).toBeLessThan(MOST_GROWTH_BYTES);
});
