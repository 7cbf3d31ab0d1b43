/** Live streams, through the fake player: a segment of 2 s in chunks of 0.25 s exists from 0.55 s after its start on. */

import { describe, expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning, Steady } from '../core/scripted.fixture.ts';
import { attachLeoAbr as attachLive } from '../live.ts';
import { attached } from './attached.fixture.ts';
import { FIRST_CHUNK_SECONDS, livePlayer } from './fake-player.fixture.ts';

useManualClock();

function start(controller: Scripted, player = livePlayer(), offsetMs = 0) {
  const steady = new Steady();
  const seen = attached({ controller, forecasters: [steady] }, player, attachLive);
  player.trigger('updateTimeSyncOffset', { offset: offsetMs });
  player.trigger('playbackPlaying');
  const request = (index: number, more: object = {}) =>
    player.request(index, 0, { startTime: index * 2, duration: 2, startDate: new Date(), ...more });
  const bits = () => steady.observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
  return { ...seen, steady, request, bits };
}

/** A chunk of `bytes`, most of it in `mdat`. */
function chunk(bytes: number): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(bytes));
  view.setUint32(0, 100);
  view.setUint32(4, 0x6d6f6f66); // moof
  view.setUint32(100, bytes - 100);
  view.setUint32(104, 0x6d646174); // mdat
  return view.buffer;
}

describe('the state on a live stream', () => {
  test('has latency, target and the time of the next segment; the cap is what exists', () => {
    const controller = new Scripted();
    const { player } = start(controller);
    player.ask();
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 1 });
    const [state] = controller.states;
    expect(state!.live).toEqual({
      latencySeconds: 3,
      targetLatencySeconds: 3,
      chunkSeconds: FIRST_CHUNK_SECONDS,
      playbackRates: { min: 0.95, max: 1.05 },
      maxLatencySeconds: 15,
      offRateShare: 0,
      firstChunkAtSeconds: state!.segmentIndex * 2 + FIRST_CHUNK_SECONDS - 100,
    });
    expect(state!.segmentIndex).toBe(49);
    expect(state!.bufferCapSeconds).toBeCloseTo(3 - FIRST_CHUNK_SECONDS + 2);
    expect(state!.segmentsRemaining).toBe(Number.POSITIVE_INFINITY);
  });

  test('of whole segments: at most the delay less the encoder', () => {
    const controller = new Scripted();
    start(controller, livePlayer({ lowLatency: false })).player.ask();
    expect(controller.states[0]!.bufferCapSeconds).toBeCloseTo(8 - 0.3);
    expect(controller.states[0]!.live).toMatchObject({ latencySeconds: 8, chunkSeconds: 2 });
  });

  test("follows dash.js's clock, or its latency where the plugin was attached too late for it", () => {
    for (const isEarly of [true, false]) {
      const controller = new Scripted();
      const player = livePlayer({ offsetMs: 3000 });
      const { request } = start(controller, player, 3000);
      if (!isEarly) player.trigger('updateTimeSyncOffset', { offset: undefined });
      request(49);
      player.ask();
      const { live, segmentIndex, nowSeconds } = controller.states[0]!;
      expect(segmentIndex).toBe(50);
      expect(live!.firstChunkAtSeconds - nowSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS);
    }
  });

  test('counts segments by their start, because a timeline forgets old ones', () => {
    const controller = new Scripted();
    const { player, request } = start(controller);
    request(49, { index: 7 });
    player.ask();
    expect(controller.states[0]!.segmentIndex).toBe(50);
  });
});

describe('low-latency downloads', () => {
  /** A segment at the edge; each of its chunks of 0.25 Mbit takes 20 ms. */
  function downloadAtTheEdge({ player, request }: ReturnType<typeof start>, index: number) {
    const sent = request(index);
    wait(0.02);
    for (let number = 0; number < 8; number++) {
      player.chunk(sent, chunk(31_250));
      if (number < 7) wait(0.25);
    }
    Object.assign(sent, { endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request: sent });
    wait(0.23);
  }

  test('that the encoder limits do not lower the estimate, and are no outage', () => {
    const controller = new ScriptedAbandoning();
    const seen = start(controller);
    wait(0.55);
    downloadAtTheEdge(seen, 50);
    seen.player.ask();
    const rates = controller.states.at(-1)!.downloads.map((one) => one.receivedBits / one.downloadSeconds);
    // 2 Mbit in 1.77 s.
    expect(rates).toHaveLength(1);
    expect(rates[0]).toBeGreaterThan(10e6);
    const silent = seen.steady.observations.filter((one) => one.kind === 'throughput' && one.bits === 0);
    expect(silent).toEqual([]);
    expect(controller.states.at(-1)!.live!.chunkSeconds).toBe(0.25);
    expect(seen.faults).toEqual([]);
  });

  test('are reconsidered while a chunk is late, and only then', () => {
    const controller = new ScriptedAbandoning();
    const { player, request } = start(controller);
    wait(0.55);
    player.ask();
    const sent = request(50);
    wait(0.02);
    player.chunk(sent, chunk(31_250));
    const before = controller.inFlights.length;
    wait(0.2);
    expect(controller.inFlights).toHaveLength(before);
    controller.instead = 1;
    wait(0.5);
    expect(controller.inFlights.length).toBeGreaterThan(before);
    const { requestedAtSeconds, firstByteAtSeconds } = controller.inFlights.at(-1)!;
    // Less the wait for the second chunk, at the announced duration.
    expect(requestedAtSeconds).toBeCloseTo(FIRST_CHUNK_SECONDS - 0.02);
    expect(firstByteAtSeconds! - requestedAtSeconds).toBeCloseTo(0.02);
    expect(player.qualitySet).toMatchObject([{ id: 'v1', reason: { forceAbandon: true } }]);
  });

  test('that the server refuses are no outage', () => {
    const { player, request, steady } = start(new Scripted());
    wait(0.55);
    const url = 'https://media.example/50.m4s';
    request(50, { url });
    for (let refusal = 0; refusal < 20; refusal++) {
      wait(0.1);
      player.trigger('metricAdded', { metric: 'HttpList', value: { url, responsecode: 404 } });
    }
    expect(steady.observations.filter(({ kind }) => kind === 'throughput')).toEqual([]);
    // An answer that does not come is one.
    wait(1);
    request(51);
    expect(steady.observations.filter(({ kind }) => kind === 'throughput').length).toBeGreaterThan(3);
  });

  test('of audio wait for the encoder as well', () => {
    const { player, steady } = start(new Scripted());
    wait(0.55);
    const more = { mediaType: 'audio', startTime: 100, duration: 2 };
    const request = player.request(50, 0, more);
    for (let number = 0; number < 8; number++) {
      wait(number === 0 ? 0.02 : 0.25);
      player.chunk(request, chunk(1000));
    }
    expect(steady.observations.filter((one) => one.kind === 'throughput' && one.bits === 0)).toEqual([]);
  });

  test('are counted byte by byte, before dash.js gets them', async () => {
    const controller = new ScriptedAbandoning();
    const { player, request } = start(controller);
    player.ask();
    const sent = request(48);
    const parts = [new Uint8Array(1000), new Uint8Array(500)];
    const original = { read: () => Promise.resolve({ value: parts.shift(), done: parts.length === 0 }) };
    const customData: { request: object; reader?: typeof original } = { request: sent };
    await player.interceptors[0]!({ customData });
    customData.reader = original;
    await customData.reader.read();
    await customData.reader.read();
    await customData.reader.read();
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 12_000 });
  });
});
