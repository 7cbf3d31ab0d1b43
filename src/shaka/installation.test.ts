import { describe, expect, test } from '@jest/globals';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning, Steady } from '../core/scripted.fixture.ts';
import { createLeoAbrFactory } from '../shaka.ts';
import { attached, FakePlayer } from './fake-player.fixture.ts';

useManualClock();

describe('createLeoAbrFactory', () => {
  test('throws for an invalid option, and without a player', () => {
    expect(() => attached({ horizon: 0 })).toThrow('options.horizon');
    expect(() => createLeoAbrFactory(undefined as never)).toThrow('player');
  });

  test('decides on the first variant, and on the next one when a segment is appended', () => {
    const { controller, player, decisions, handle } = attached({ controller: new Scripted() });
    expect(handle.state).toMatchObject({ status: 'attached', session: 1 });
    player.load();
    expect(player.active).toBe(player.variants[0]);
    controller.next = 2;
    player.download(0, 4e6, 1);
    expect(player.switches).toEqual([player.variants[2]]);
    expect(decisions.map(({ state, representationId }) => [state.segmentIndex, representationId])).toEqual([
      [0, 'v0'],
      [1, 'v2'],
    ]);
    expect(controller.states[1]).toMatchObject({ bufferLevelSeconds: 4, bufferCapSeconds: 14, segmentsRemaining: 9 });
  });

  test("with the option `cmcd`, turns on Shaka's CMCD and adds the plugin's keys until it is detached", () => {
    const { player, handle } = attached({ cmcd: true, controller: new Scripted(), forecasters: [new Steady()] });
    expect(player.config.cmcd.enabled).toBe(true);
    player.load();
    expect(decodeURIComponent(player.request(0).request.uris[0]!)).toBe(
      'https://media.example/0.m4s?CMCD=d=4000,leo.abr-cap=6000,leo.abr-src="steady"',
    );
    handle.detach();
    expect(player.config.cmcd.enabled).toBe(false);
  });

  test('with a full buffer, waits until Shaka is about to request', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.load();
    for (const index of [0, 1, 2]) player.download(index, 1e6, 1);
    expect(controller.states).toHaveLength(3);
    player.element.currentTime = 1.4;
    player.element.dispatchEvent(new Event('timeupdate'));
    expect(controller.states).toHaveLength(3);
    player.element.currentTime = 1.6;
    player.element.dispatchEvent(new Event('timeupdate'));
    player.element.dispatchEvent(new Event('timeupdate'));
    expect(controller.states).toHaveLength(4);
  });

  describe('if Shaka requests before the decision, decides at the request', () => {
    const requested = (representation: number) => {
      const { controller, player, decisions } = attached({ controller: new Scripted() });
      player.load();
      for (const index of [0, 1, 2]) player.download(index, 1e6, 1);
      player.element.currentTime = 6;
      controller.next = representation;
      return { player, decisions, ...player.request(3) };
    };
    const indices = ({ decisions }: Pick<ReturnType<typeof requested>, 'decisions'>) =>
      decisions.map(({ state }) => state.segmentIndex);
    const measured = ({ decisions }: Pick<ReturnType<typeof requested>, 'decisions'>) =>
      decisions.at(-1)!.state.downloads.map(({ bitrateBps }) => bitrateBps);

    test('and Shaka gives the request up for another stream', () => {
      const { player, decisions, request } = requested(2);
      expect(player.switches.at(-1)).toBe(player.variants[2]);
      // Else Shaka would compare the sizes.
      expect(player.manager!.getBandwidthEstimate()).toBe(-1);
      wait(0.1);
      player.emit('downloadfailed', { request, error: { code: 7001 } });
      player.element.dispatchEvent(new Event('timeupdate'));
      player.download(3, 1e6, 1);
      expect(indices({ decisions })).toEqual([0, 1, 2, 3, 4]);
      expect(measured({ decisions })).toEqual([1e6, 1e6, 1e6, 4e6]);
    });

    test('and counts the request if Shaka completes it', () => {
      const { player, decisions, request, context } = requested(2);
      wait(1);
      player.manager!.segmentDownloaded(1000, 1e6 / 8, true, request, context);
      player.emit('downloadcompleted', { request, response: { data: { byteLength: 1e6 / 8 }, timeMs: 1000 } });
      player.buffered = [{ start: 0, end: 16 }];
      player.emit('segmentappended', { contentType: 'video', end: 16 });
      expect(player.manager!.getBandwidthEstimate()).toBeGreaterThan(0);
      expect(indices({ decisions })).toEqual([0, 1, 2, 3, 4]);
      expect(measured({ decisions })).toEqual([1e6, 1e6, 1e6, 1e6]);
    });

    test('and leaves the request if it is for this stream', () => {
      const { player, decisions } = requested(0);
      expect(player.manager!.getBandwidthEstimate()).toBeGreaterThan(0);
      expect(indices({ decisions })).toEqual([0, 1, 2, 3]);
    });
  });

  test('does not decide after the last segment, nor on audio', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.load();
    player.emit('segmentappended', { contentType: 'audio', end: 4 });
    player.emit('segmentappended', { contentType: 'video', end: 40 });
    expect(controller.states).toHaveLength(1);
  });

  test('in mid-download, Shaka gets the variant that is loading, without a decision', () => {
    const { controller, player, decisions } = attached({ controller: new Scripted() });
    player.load();
    player.request(0);
    controller.next = 2;
    expect(player.manager!.chooseVariant()).toBe(player.variants[0]);
    player.manager!.trySuggestStreams();
    expect(player.switches).toEqual([]);
    expect(decisions).toHaveLength(1);
  });

  test('decides anew in mid-download if Shaka bans what is loading', () => {
    const controller = new Scripted();
    controller.next = 2;
    const { player, decisions } = attached({ controller });
    player.load();
    player.active = player.variants[2];
    player.request(0);
    const rest = player.own[0]!.variants.filter((variant) => variant !== player.active);
    player.manager!.setVariants(rest);
    controller.next = 0;
    expect(player.manager!.chooseVariant()).toBe(rest[0]);
    expect(decisions).toHaveLength(2);
  });

  test('decides after a seek to where nothing is buffered', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.load();
    player.download(0, 1e6, 1);
    player.element.currentTime = 2;
    player.element.dispatchEvent(new Event('seeking'));
    expect(controller.states).toHaveLength(2);
    player.element.currentTime = 21;
    player.buffered = [];
    player.element.dispatchEvent(new Event('seeking'));
    expect(controller.states[2]).toMatchObject({ segmentIndex: 5, bufferLevelSeconds: 0 });
    expect(controller.states[2]!.previousBitrateBps).toBeUndefined();
  });

  test("the ladder has the present audio, and keeps to the page's limits and to Shaka's manager", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.load(player.variants);
    player.active = player.variants[3];
    const ladder = () => {
      player.manager!.trySuggestStreams();
      return controller.states.at(-1)!.ladderBps;
    };
    expect(ladder()).toEqual([1e6, 2e6, 4e6]);
    expect(player.switches.at(-1)).toBe(player.variants[3]);
    Object.assign(player.config.abr.restrictions, { minHeight: 700, maxBandwidth: 2.2e6 });
    expect(ladder()).toEqual([2e6]);
    player.config.abr.restrictions.maxBandwidth = 1;
    expect(ladder()).toEqual([1e6]);
    Object.assign(player.config.abr.restrictions, { minHeight: 0, maxBandwidth: 1e9 });
    player.own[0]!.maxHeight = 800;
    expect(ladder()).toEqual([1e6, 2e6]);
    player.own[0]!.maxHeight = 1e9;
    // Shaka takes the longer side of a portrait picture for its width.
    for (const { video } of player.variants) [video!.width, video!.height] = [video!.height!, video!.width!];
    player.config.abr.restrictions.maxHeight = 800;
    expect(ladder()).toEqual([1e6, 2e6]);
    // The manager's own estimate is back.
    expect(player.manager!.getBandwidthEstimate()).toBe(1.5e6);
  });

  test("asks nobody while the page has switched adaptation off: Shaka's manager begins", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.config.abr.enabled = false;
    player.load();
    player.download(0, 1e6, 1);
    player.manager!.trySuggestStreams();
    expect(controller.states).toHaveLength(0);
    expect(player.switches).toEqual([]);
    expect(player.active).toBe(player.variants[0]);
  });

  test("leaves streams without video to Shaka's manager", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    const variants = player.variants.slice(0, 2).map((variant) => ({ ...variant, video: null }));
    player.load(variants);
    player.own[0]!.switchTo!(variants[1]!);
    expect(player.switches).toEqual([variants[1]]);
    expect(controller.states).toHaveLength(0);
  });

  test("passes everything on to Shaka's manager, also what the adapter does not know", () => {
    const { player } = attached({ controller: new Scripted() });
    player.load();
    player.own[0]!.switchTo!(player.variants[2]!);
    expect(player.switches).toEqual([]);
    player.manager!.segmentDownloaded(100, 5, true);
    player.manager!.ofTomorrow();
    player.destroy();
    const calls = ['init 1', 'setVariants 1', 'enable', 'downloaded 5', 'ofTomorrow', 'stop', 'release'];
    expect(player.own[0]!.calls).toEqual(calls);
  });

  test('an abandonment makes Shaka abort, until the request has ended', () => {
    const controller = new ScriptedAbandoning();
    controller.next = 2;
    const { player, decisions } = attached({ controller });
    player.load();
    const { request } = player.request(0);
    controller.instead = 0;
    wait(0.1);
    expect(player.switches).toEqual([player.variants[0]]);
    expect(player.manager!.getBandwidthEstimate()).toBeLessThan(0);
    player.emit('downloadfailed', { request, error: { code: 7001 } });
    expect(player.manager!.getBandwidthEstimate()).toBe(1.5e6);
    player.manager!.trySuggestStreams();
    expect(decisions.map(({ kind }) => kind)).toEqual(['decide', 'abandon', 'decide']);
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ abandoned: true, receivedBits: 0 }]);
  });

  test('limits prefetching while attached', () => {
    const { player, handle } = attached({ controller: new Scripted() });
    player.config.streaming.segmentPrefetchLimit = 2;
    player.load();
    expect(player.config.streaming.segmentPrefetchLimit).toBe(0);
    handle.detach();
    expect(player.config.streaming.segmentPrefetchLimit).toBe(2);
  });

  test('another source begins another session', () => {
    const { controller, player, handle } = attached({ controller: new Scripted() });
    player.load();
    player.download(0, 4e6, 1);
    player.unload();
    player.load();
    expect(controller.states.at(-1)).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [] });
    expect(handle.state.session).toBe(2);
  });

  test('leaves nothing behind, and makes another manager after a release', () => {
    const { player, factory, faults } = attached({ controller: new Scripted() });
    player.load();
    player.destroy();
    expect(player.left).toBe(0);
    player.load();
    expect(player.active).toBe(player.variants[0]);
    expect(factory.handle.state.status).toBe('attached');
    expect(faults).toEqual([]);
  });

  test('goes on with the manager that Shaka makes after it has saved a source as a preload', async () => {
    const { controller, player, handle, faults } = attached({ controller: new Scripted() });
    player.load();
    player.download(0, 4e6, 1);
    player.unloadAndSavePreload();
    const left = player.left;
    player.load();
    await Promise.resolve();
    expect(faults).toEqual([]);
    expect(player.left).toBe(left);
    expect(controller.states.at(-1)).toMatchObject({ nowSeconds: 0, downloads: [] });
    expect(controller.states).toHaveLength(3);
    expect(handle.state.session).toBe(2);
    player.destroy();
    expect(player.left).toBe(0);
    expect(handle.state.session).toBe(3);
  });

  test("after detach() Shaka's manager decides, now and for the next source", () => {
    const { controller, player, handle } = attached({ controller: new Scripted() });
    player.load();
    handle.detach();
    handle.detach();
    expect(player.left).toBe(0);
    player.own[0]!.switchTo!(player.variants[1]!);
    expect(player.switches).toEqual([player.variants[1]]);
    player.destroy();
    player.load();
    expect(player.manager).toBe(player.own[1]);
    expect(controller.states).toHaveLength(1);
    expect(handle.state.status).toBe('detached');
    expect(attached({}, player).handle.state.status).toBe('attached');
  });
});

describe('faults', () => {
  test("a controller that throws is reported once, and Shaka's manager decides", async () => {
    const controller = new Scripted();
    controller.next = () => {
      throw new Error('broken');
    };
    const { player, faults } = attached({ controller });
    player.load();
    player.download(0, 1e6, 1);
    await Promise.resolve();
    expect(faults.map(({ code }) => code)).toEqual(['controller-failed']);
    expect(player.switches).toEqual([player.variants[0]]);
  });

  test('a second player with the same factory, and a second plugin in one player, get what they had', async () => {
    const { player, factory, faults } = attached({ controller: new Scripted() });
    player.load();
    expect(factory()).toBe(player.own[1]);
    const second = attached({ controller: new Scripted() }, player);
    await Promise.resolve();
    expect(faults.map(({ code }) => code)).toEqual(['already-attached']);
    expect(second.faults.map(({ code }) => code)).toEqual(['already-attached']);
    expect(second.handle.state.status).toBe('inactive');
  });

  test('an unsupported player keeps its own manager', async () => {
    const player = Object.assign(new FakePlayer(), { getBufferedInfo: undefined as never });
    const { factory, faults, handle } = attached({}, player);
    await Promise.resolve();
    expect(faults).toMatchObject([
      { code: 'unsupported-player', message: expect.stringContaining('getBufferedInfo()') },
    ]);
    expect(factory()).toBe(player.own[0]);
    expect(handle.state.status).toBe('inactive');
  });
});
