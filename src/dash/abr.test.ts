import { describe, expect, jest, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning } from '../core/scripted.fixture.ts';
import { attached, download } from './attached.fixture.ts';
import { fakeVideo } from './fake-player.fixture.ts';

useManualClock();

describe('the switch rule', () => {
  test("gives the controller the player's state in seconds and bits, and dash.js the decision", () => {
    const { controller, player, handle, decisions, faults } = attached({ controller: new Scripted() });
    expect(player.ask()).toBe('v0');
    expect(controller.states[0]).toMatchObject({
      nowSeconds: 0,
      started: false,
      bufferLevelSeconds: 0,
      bufferCapSeconds: 18,
      segmentSeconds: 4,
      segmentIndex: 0,
      segmentsRemaining: 10,
      ladderBps: [1e6, 2e6, 4e6],
      previousBitrateBps: undefined,
      downloads: [],
    });
    expect(controller.states[0]!.upcomingSizesBits).toHaveLength(10);
    expect(controller.states[0]!.weights).toMatchObject({ mu: 4, lambda: 1 });

    download(player, 0, 0, 3e6, 1.5);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 4 });
    player.element!.currentTime = 0.5;
    controller.next = 2;
    expect(player.ask()).toBe('v2');
    expect(controller.states[1]).toMatchObject({
      nowSeconds: 1.5,
      started: true,
      // The playback since dash.js's last buffer event is subtracted.
      bufferLevelSeconds: 3.5,
      segmentIndex: 1,
      segmentsRemaining: 9,
      previousBitrateBps: 1e6,
      downloads: [
        {
          segmentIndex: 0,
          bitrateBps: 1e6,
          receivedBits: 3e6,
          sizeBits: 3e6,
          requestedAtSeconds: 0,
          downloadSeconds: 1.5,
          latencySeconds: 0.05,
          abandoned: false,
        },
      ],
    });
    // All representations get the ratio 3/4 of that segment.
    expect(controller.states[1]!.upcomingSizesBits[0]).toEqual([3e6, 6e6, 12e6]);
    expect(decisions.map(({ kind, representationId, streamId }) => [kind, representationId, streamId])).toEqual([
      ['decide', 'v0', 'p0'],
      ['decide', 'v2', 'p0'],
    ]);
    expect(decisions[1]!.state).toBe(controller.states[1]);
    expect(handle.state).toMatchObject({
      status: 'attached',
      controller: 'scripted',
      session: 1,
      nowSeconds: 1.5,
      decision: { representation: 2 },
      faults: [],
    });
    expect(faults).toEqual([]);
  });

  test('has no choice for audio and text, nor in instances that dash.js has replaced', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    expect(player.ask('audio')).toBeNull();
    expect(player.ask('text')).toBeNull();
    player.instantiateRules();
    player.instantiateRules();
    expect(player.ask()).toBe('v0');
    expect(controller.states).toHaveLength(1);
  });

  test("returns a switch request in dash.js's form", () => {
    const { player } = attached({ controller: new Scripted() });
    expect(player.instances[0]!.getSwitchRequest(player.rulesContext())).toMatchObject({
      representation: { id: 'v0' },
      priority: 0.5,
      reason: { message: 'scripted: scripted' },
      rule: 'LeoAbrRule',
    });
  });

  test('an unexpected dash.js causes one fault and no choice', async () => {
    const { player, faults } = attached({ controller: new Scripted() });
    player.representations = [];
    expect(() => player.ask()).toThrow();
    player.representations = fakeVideo();
    for (const representation of player.representations) {
      representation.segmentDuration = Number.NaN;
      representation.fragmentDuration = null;
    }
    expect(player.ask()).toBeNull();
    await Promise.resolve();
    expect(faults.map(({ code, message }) => [code, message])).toEqual([
      ['player-failed', 'dash.js is not as expected: representation v0 has no segment duration'],
    ]);
  });
});

describe('a download in flight', () => {
  test('is reconsidered ten times a second, even if nothing arrives, and abandoned at once', () => {
    const { controller, player, decisions } = attached({ controller: new ScriptedAbandoning() });
    expect(player.rules.map(({ rulename }) => rulename)).toEqual(['LeoAbrRule']);
    player.ask();
    download(player, 0, 0, 4e6, 1);
    player.ask();
    const request = player.request(1, 2);
    wait(0.55);
    expect(controller.inFlights.length).toBeGreaterThanOrEqual(5);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 4e6, receivedBits: 0 });
    expect(controller.inFlights.at(-1)!.firstByteAtSeconds).toBeUndefined();
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 1, segmentsRemaining: 9, previousBitrateBps: 1e6 });
    expect(player.qualitySet).toEqual([]);

    controller.instead = 1;
    wait(0.1);
    expect(player.qualitySet).toEqual([{ id: 'v1', reason: { forceAbandon: true, message: 'scripted: slow' } }]);
    expect(decisions.at(-1)).toMatchObject({ kind: 'abandon', representationId: 'v1', inFlight: { segmentIndex: 1 } });
    // It is not repeated before dash.js has reacted.
    wait(0.5);
    expect(player.qualitySet).toHaveLength(1);

    Object.assign(request, { startDate: new Date(0), endDate: new Date(650) });
    player.trigger('fragmentLoadingAbandoned', { request });
    const asked = controller.inFlights.length;
    wait(1);
    expect(controller.inFlights).toHaveLength(asked);
    player.request(1, 1);
    wait(0.15);
    expect(controller.inFlights.at(-1)).toMatchObject({ segmentIndex: 1, bitrateBps: 2e6, abandonments: 1 });
    // The choice is the representation in flight: no abandonment.
    wait(0.5);
    expect(player.qualitySet).toHaveLength(1);
  });

  test('is kept if the page has switched adaptation off', () => {
    const { controller, player } = attached({ controller: new ScriptedAbandoning() });
    player.ask();
    player.settings.streaming.abr.autoSwitchBitrate.video = false;
    controller.instead = 0;
    player.request(0, 2);
    wait(1);
    expect(controller.inFlights).toEqual([]);
    expect(player.qualitySet).toEqual([]);
  });

  test('a dash.js that fails to abandon it causes one fault', async () => {
    const { controller, player, faults } = attached({ controller: new ScriptedAbandoning() });
    player.qualitySet.push = () => {
      throw new Error('not now');
    };
    player.ask();
    controller.instead = 0;
    player.request(0, 2);
    expect(() => wait(3)).not.toThrow();
    await Promise.resolve();
    expect(faults.map(({ message }) => message)).toEqual(['dash.js is not as expected: not now']);
  });

  test('is reconsidered at progress events if timers are throttled, as in a hidden tab', async () => {
    const setInterval = jest.spyOn(globalThis, 'setInterval').mockReturnValue(7 as never);
    const { controller, player } = attached({ controller: new ScriptedAbandoning() });
    player.ask();
    const request = player.request(0, 2, { bytesTotal: 2e6 });
    const progress = async (bytesLoaded: number) => {
      wait(0.05);
      Object.assign(request, { bytesLoaded });
      player.trigger('loadingProgress', { request });
      await Promise.resolve();
    };
    for (let event = 1; event <= 20; event++) await progress(event * 1000);
    expect(controller.inFlights.map(({ receivedBits }) => receivedBits)).toEqual([32e3, 64e3, 96e3, 128e3, 160e3]);
    controller.instead = 0;
    await progress(21_000);
    await progress(22_000);
    await progress(23_000);
    expect(player.qualitySet).toEqual([]);
    await progress(24_000);
    expect(player.qualitySet).toMatchObject([{ id: 'v0' }]);
    setInterval.mockRestore();
  });
});
