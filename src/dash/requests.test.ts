import { describe, expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning, Steady } from '../core/scripted.fixture.ts';
import { attachLeoAbr as attachLive } from '../live.ts';
import { attached, download } from './attached.fixture.ts';
import { FakePlayer } from './fake-player.fixture.ts';

useManualClock();

describe('requests', () => {
  test('cached segments are not measured, failed ones not recorded', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    download(player, 0, 0, 3e6, 0.05);
    const cached = player.request(1, 0);
    Object.assign(cached, { bytesLoaded: 5e5, bytesTotal: 5e5, startDate: new Date(0), endDate: new Date(9) });
    player.trigger('loadingProgress', { request: cached });
    player.trigger('fragmentLoadingCompleted', { request: cached });
    const failed = player.request(2, 0);
    player.trigger('fragmentLoadingCompleted', { request: failed, error: new Error('404') });
    player.ask();
    expect(controller.states[0]!.downloads.map(({ segmentIndex }) => segmentIndex)).toEqual([0]);
    expect(controller.states[0]!.previousBitrateBps).toBe(1e6);
  });

  test('that is abandoned counts as wasted', () => {
    const { player, handle } = attached({ controller: new ScriptedAbandoning() });
    player.ask();
    const request = player.request(0, 2);
    expect(handle.state).toMatchObject({ requestedBits: 16e6, wastedBits: 0 });
    wait(0.5);
    Object.assign(request, { bytesLoaded: 1e6, bytesTotal: 2e6 });
    player.trigger('loadingProgress', { request });
    wait(0.5);
    Object.assign(request, { startDate: new Date(0), endDate: new Date(1000) });
    player.trigger('fragmentLoadingAbandoned', { request });
    player.request(0, 0);
    expect(handle.state).toMatchObject({ requestedBits: 20e6, wastedBits: 8e6 });
  });
});

describe('bytes are counted with any headers', () => {
  /** As `download`, for a response without a length: `bytesLoaded` stays unset, only the traces have the bytes. */
  function downloadWithoutLength(player: FakePlayer, index: number, bytes: number, seconds: number) {
    const traces: { b: number[] }[] = [];
    const startDate = new Date();
    const request = player.request(index, 0, { traces });
    const events = Math.round(seconds / 0.05);
    for (let event = 1; event <= events; event++) {
      wait(0.05);
      traces.push({ b: [bytes / events] });
      player.trigger('loadingProgress', { request });
    }
    Object.assign(request, { startDate, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request, response: { byteLength: bytes } });
  }

  test("without a length, from dash.js's traces", () => {
    const controller = new Scripted();
    const steady = new Steady();
    const { player, handle } = attached({ controller, forecasters: [steady] });
    player.ask();
    downloadWithoutLength(player, 0, 500e3, 2);
    player.ask();
    expect(controller.states[1]!.downloads).toMatchObject([
      { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: 2, latencySeconds: 0.05 },
    ]);
    wait(1);
    player.request(1);
    const bits = steady.observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
    expect(bits).toBeCloseTo(4e6);
    expect(handle.state.requestedBits).toBe(4e6 + 4e6);
  });

  test('in low-latency mode, from the parts of the body', () => {
    const { controller, player } = attached({ controller: new ScriptedAbandoning() }, new FakePlayer(), attachLive);
    player.ask();
    const request = player.request(0, 0, { startDate: new Date() });
    for (let part = 1; part <= 4; part++) {
      wait(0.25);
      player.chunk(request, new ArrayBuffer(100e3));
    }
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({ receivedBits: 3.2e6 });
    Object.assign(request, { bytesLoaded: 410e3, bytesTotal: 410e3, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request });
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 3.28e6, downloadSeconds: 1.1 }]);
  });

  test('in low-latency mode, parts of a failed attempt do not count for the next one', () => {
    const { controller, player } = attached({ controller: new Scripted() }, new FakePlayer(), attachLive);
    player.ask();
    const request = player.request(0, 0, { startDate: new Date() });
    const part = () => {
      wait(0.25);
      player.chunk(request, new ArrayBuffer(100e3));
    };
    part();
    part();
    Object.assign(request, { startDate: new Date() });
    player.send(request);
    part();
    part();
    part();
    Object.assign(request, { endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request });
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 2.4e6, downloadSeconds: 0.75 }]);
  });

  test('on a link that was slow and becomes fast, MPC-L and MPC-D switch up', () => {
    for (const controller of ['mpc-l', 'mpc-d'] as const) {
      const { player, faults } = attached({ controller, ...(controller === 'mpc-l' && { prior: false }) });
      player.ask();
      download(player, 0, 0, 4e5, 0.8);
      const asked: (string | null)[] = [];
      for (let index = 1; index < 10; index++) {
        asked.push(player.ask());
        const startDate = new Date();
        const request = player.request(index);
        wait(0.005);
        Object.assign(request, { startDate, endDate: new Date(), bytesLoaded: 5e5, bytesTotal: 5e5 });
        player.trigger('fragmentLoadingCompleted', { request });
        wait(4);
      }
      expect([controller, ...asked.slice(3)]).toEqual([controller, ...Array(6).fill('v2')]);
      expect(faults).toEqual([]);
    }
  });

  test('without progress events, from the body', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    const startDate = new Date();
    const request = player.request(0);
    wait(0.5);
    Object.assign(request, { startDate, endDate: new Date() });
    player.trigger('fragmentLoadingCompleted', { request, response: { byteLength: 250e3 } });
    player.ask();
    const [download] = controller.states[1]!.downloads;
    expect(download).toMatchObject({ receivedBits: 2e6, downloadSeconds: 0.5 });
    expect(download).not.toHaveProperty('latencySeconds');
  });
});
