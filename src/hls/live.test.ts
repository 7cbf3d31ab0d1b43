import { describe, expect, jest, test } from '@jest/globals';
import type { Part } from 'hls.js';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { ScriptedAbandoning, ScriptedPacing } from '../core/scripted.fixture.ts';
import type { LeoAbrOptions } from '../hls.ts';
import { attached, livePlaylist, playlists, useWindow } from './fake-player.fixture.ts';

useManualClock();
useWindow();

/** 20 segments of 4 s, and `parts` of the next one; the playhead is at its target. */
function live(
  options: LeoAbrOptions = {},
  {
    parts,
    config = {},
    controller = new ScriptedPacing() as ScriptedPacing | ScriptedAbandoning,
  }: {
    parts?: number;
    config?: object;
    controller?: ScriptedPacing | ScriptedAbandoning;
  } = {},
) {
  const files = playlists();
  for (const name of Object.keys(files)) if (name !== 'main.m3u8') files[name] = livePlaylist(100, 20, parts);
  const seen = attached({ controller, ...options }, { files, config });
  const { player, hls } = seen;
  const { media } = player;
  const edge = () => hls.latestLevelDetails!.edge + hls.latestLevelDetails!.age;
  media.currentTime = edge() - hls.targetLatency!;
  player.bufferLevelSeconds = 2;
  media.plays();
  return { ...seen, controller, media, edge };
}

/** Requests the newest segment, and waits for a tick of the core. */
function loading(seen: ReturnType<typeof live>) {
  const { player } = seen;
  player.ask();
  player.request(player.fragment(19));
  wait(0.1);
  return seen;
}

describe('a live stream', () => {
  test('of whole segments: each exists when it is listed', () => {
    const seen = live({}, { controller: new ScriptedAbandoning() });
    seen.player.ask();
    const { state } = seen.decisions.at(-1)!;
    expect(state).toMatchObject({ segmentsRemaining: Infinity, segmentSeconds: 4 });
    expect(state.live).toMatchObject({
      latencySeconds: 12,
      targetLatencySeconds: 12,
      chunkSeconds: 4,
      offRateShare: 0,
    });
    // The playlist ends with segment 119; the last playlist is as old as the buffer allows, from the first one on.
    const frag = seen.player.fragment(19);
    const stats = seen.player.request(frag);
    wait(0.5);
    stats.loaded = 1e5;
    wait(0.2);
    expect(seen.controller.states.at(-1)).toMatchObject({ segmentIndex: 119 });
    seen.player.loaded(frag, 5e5);
    seen.player.bufferLevelSeconds = frag.end - seen.media.currentTime;
    seen.player.ask();
    const next = seen.decisions.at(-1)!.state;
    expect(next).toMatchObject({ segmentIndex: 120, downloads: [{ segmentIndex: 119, latencySeconds: 0.5 }] });
    const listed = seen.hls.latestLevelDetails!;
    // It exists, and is listed, 4 s after the playlist grew.
    expect(next.live!.firstChunkAtSeconds - next.nowSeconds).toBeCloseTo(4 - listed.age);
  });

  test('in parts: one request with chunks', () => {
    const controller = new ScriptedAbandoning();
    const { player, hls, decisions, handle } = live({}, { parts: 4, controller });
    player.ask();
    expect(decisions.at(-1)!.state.live).toMatchObject({ chunkSeconds: 0.5, targetLatencySeconds: 1.5 });
    const made = decisions.length;
    const parts = hls.latestLevelDetails!.partList!;
    const load = (part: Part) => {
      player.request(part.fragment, part);
      wait(0.1);
      part.stats.loaded = 20e3;
      wait(0.1);
      expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 120, receivedBits: part.index * 4e5 + 1.6e5 });
      player.loaded(part.fragment, 50e3, part);
    };
    for (const part of parts) load(part);
    // Between parts, the level stays.
    controller.next = 2;
    expect([player.ask(), decisions.length]).toEqual([0, made]);
    const more = Array.from({ length: 4 }, (_, i) => {
      const part = Object.create(parts[3]!) as Part;
      const index = 4 + i;
      const start = parts[0]!.start + index * 0.5;
      for (const [key, value] of Object.entries({ index, start, end: start + 0.5 })) {
        Object.defineProperty(part, key, { value });
      }
      return part;
    });
    for (const part of more) {
      wait(0.3);
      load(part);
    }
    expect([player.ask(), decisions.length]).toEqual([2, made + 1]);
    const { state } = decisions.at(-1)!;
    expect(state).toMatchObject({ segmentIndex: 121, live: { chunkSeconds: 0.5 }, previousBitrateBps: 1e6 });
    // Waits for the encoder are not the link's time.
    expect(state.downloads).toMatchObject([{ segmentIndex: 120, receivedBits: 3.2e6, sizeBits: 3.2e6 }]);
    expect(state.downloads[0]!.downloadSeconds).toBeLessThan(2);
    expect(handle.state.faults).toEqual([]);
  });
});

describe('the playback rate', () => {
  const rate = ({ media }: ReturnType<typeof live>) => media.playbackRate;

  test("is hls.js's alone on a stream without parts, by default", () => {
    const seen = loading(live());
    expect([rate(seen), seen.controller.states.length]).toEqual([1, 0]);
  });

  test.each([
    ['in parts', {}, { parts: 4 }],
    ['where the page wants hls.js to catch up', {}, { config: { maxLiveSyncPlaybackRate: 1.3 } }],
    ["with a limit of the plugin's options", { live: { maxPlaybackRate: 1.3 } }, {}],
  ])("is the controller's %s, until the plugin is detached", (_, options, stream) => {
    const seen = loading(live(options, stream));
    expect([rate(seen), seen.hls.config.maxLiveSyncPlaybackRate]).toEqual([0.95, 1]);
    const isWished = JSON.stringify([options, stream]).includes('1.3');
    expect(seen.controller.states.at(-1)!.live!.playbackRates).toEqual({ min: 0.95, max: isWished ? 1.3 : 1.05 });
    wait(1);
    expect(seen.controller.states.at(-1)!.live!.offRateShare).toBeGreaterThan(0);
    // Its loop runs without an effect on the rate.
    seen.media.dispatchEvent(new Event('timeupdate'));
    expect(rate(seen)).toBe(0.95);
    seen.handle.detach();
    expect(rate(seen)).toBe(1);
    expect(seen.hls.config.maxLiveSyncPlaybackRate).toBe('config' in stream ? 1.3 : 1);
  });

  test('is restored when the player is destroyed', () => {
    const seen = loading(live({}, { parts: 4 }));
    expect(rate(seen)).toBe(0.95);
    seen.hls.destroy();
    expect(rate(seen)).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a jump sets the position by the latency', () => {
    const seen = live({}, { parts: 4 });
    (seen.controller as ScriptedPacing).more = { jump: true, targetLatencySeconds: 2.5 };
    loading(seen);
    expect(seen.media.currentTime).toBeCloseTo(seen.edge() - 2.5, 1);
  });

  test("a target in seconds is hls.js's while attached", () => {
    const { hls, handle } = live({ live: { targetLatencySeconds: 6 } });
    expect([hls.targetLatency, hls.config.liveSyncDuration]).toEqual([6, 6]);
    handle.set({ live: { targetLatencySeconds: 8 } });
    expect(hls.targetLatency).toBe(8);
    handle.detach();
    expect([hls.targetLatency, hls.config.liveSyncDuration]).toEqual([12, undefined]);
  });
});
