import { describe, expect, test } from '@jest/globals';
import type { ErrorDetails, ErrorTypes, MediaFragment } from 'hls.js';
import Hls from 'hls.js';
import { useManualClock, wait } from '../core/manual-clock.fixture.ts';
import { Scripted, ScriptedAbandoning, Steady } from '../core/scripted.fixture.ts';
import { attached, useWindow } from './fake-player.fixture.ts';

useManualClock();
useWindow();

const bitsOf = ({ observations }: Steady) => observations.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);

describe('requests', () => {
  test('bits count when the loader counts them, and the response time from the first', () => {
    const { controller, player } = attached({ controller: new ScriptedAbandoning() });
    const frag = player.fragment(0, player.ask());
    const stats = player.request(frag);
    wait(0.25);
    stats.loaded = 1e5;
    wait(0.05);
    stats.loaded = 2e5;
    stats.total = 5e5;
    wait(0.05);
    stats.loaded = 3e5;
    wait(0.1);
    expect(controller.inFlights.at(-1)).toMatchObject({
      receivedBits: 2.4e6,
      sizeBits: 4e6,
      firstByteAtSeconds: 0.25,
    });
    player.loaded(frag, 5e5);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([
      { receivedBits: 4e6, sizeBits: 4e6, latencySeconds: 0.25, downloadSeconds: expect.closeTo(0.45) },
    ]);
  });

  test('audio is measured and not decided on, subtitles and init segments are neither', () => {
    const steady = new Steady();
    const { controller, player, decisions } = attached({ controller: new Scripted(), forecasters: [steady] });
    player.ask();
    const video = player.fragment(0);
    const other = (changes: object) => Object.assign(Object.create(video), { stats: {} }, changes) as MediaFragment;
    player.request(video);
    for (const [type, sn] of [
      ['audio', 0],
      ['subtitle', 0],
      ['main', 'initSegment'],
    ]) {
      const frag = other({ type, sn });
      Object.defineProperty(frag, 'type', { value: type });
      const stats = player.request(frag);
      for (let i = 1; i < 5; i++) {
        wait(0.1);
        stats.loaded = i * 25e3;
      }
      player.loaded(frag, 1e5);
    }
    wait(0.1);
    player.loaded(video, 5e5);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 4e6 }]);
    expect(decisions.map(({ state }) => state.segmentIndex)).toEqual([0, 1]);
    player.request(player.fragment(1));
    expect(bitsOf(steady)).toBeCloseTo(0.8e6);
  });

  test('failed ones are not recorded; hls.js repeats them', () => {
    const { controller, player, handle } = attached({ controller: new Scripted() });
    player.ask();
    const frag = player.fragment(0);
    player.request(frag);
    wait(1);
    player.failed(frag);
    expect(handle.state.requestedBits).toBe(0);
    // Its error recovery may choose another level.
    player.ask();
    wait(1);
    player.download(0, 4e6, 1);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ receivedBits: 4e6, downloadSeconds: 1 }]);
  });

  test('errors without a segment change nothing', () => {
    const { hls, handle } = attached({ controller: new Scripted() });
    hls.trigger(Hls.Events.ERROR, {
      type: 'mediaError' as ErrorTypes,
      details: 'bufferStalledError' as ErrorDetails,
      fatal: false,
      error: new Error('stalled'),
    });
    expect(handle.state.faults).toEqual([]);
  });

  test('that hls.js aborts, at a seek, count as abandoned', () => {
    const { controller, player, handle } = attached({ controller: new Scripted() });
    player.download(0, 4e6, 1);
    player.media.plays();
    const frag = player.fragment(1, player.ask());
    const stats = player.request(frag);
    wait(0.5);
    stats.loaded = 1e5;
    frag.abortRequests();
    player.media.dispatchEvent(new Event('seeking'));
    expect(handle.state.wastedBits).toBe(8e5);
    player.media.currentTime = 24;
    player.bufferLevelSeconds = 0;
    player.ask();
    expect(controller.states.at(-1)).toMatchObject({ segmentIndex: 6, previousBitrateBps: undefined });
  });

  test('the error of an abort does not end the next request for the same segment', () => {
    const { controller, hls, player } = attached({ controller: new Scripted() });
    player.ask();
    const frag = player.fragment(0);
    const stats = player.request(frag);
    wait(0.5);
    stats.loaded = 1e5;
    frag.abortRequests();
    player.request(frag);
    hls.trigger(Hls.Events.ERROR, {
      type: 'networkError' as ErrorTypes,
      details: 'aborted' as ErrorDetails,
      fatal: false,
      error: new Error('Aborted'),
      frag,
    });
    wait(1);
    player.loaded(frag, 5e5);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([
      { abandoned: true, receivedBits: 8e5 },
      { receivedBits: 4e6, downloadSeconds: 1 },
    ]);
  });

  test("those of a page's loader that hides an abort end with the next request", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    const frag = player.fragment(0);
    player.request(frag);
    frag.loader = null;
    wait(1);
    player.download(1, 4e6, 1);
    player.ask();
    expect(controller.states.at(-1)!.downloads).toMatchObject([{ abandoned: true }, { receivedBits: 4e6 }]);
  });

  test('sizes are those of byte ranges and EXT-X-BITRATE, where they are given', () => {
    const controller = new Scripted();
    const list = (lines: string[]) =>
      ['#EXTM3U', '#EXT-X-TARGETDURATION:4', '#EXT-X-VERSION:4', ...lines, '#EXT-X-ENDLIST'].join('\n');
    const ranges = [1, 2, 3].flatMap((n) => ['#EXTINF:4,', `#EXT-X-BYTERANGE:${n}00000@${n}000000`, 'all.m4s']);
    const rates = [1, 2, 3].flatMap((n) => [`#EXT-X-BITRATE:${n}000`, '#EXTINF:4,', `${n}.m4s`]);
    const files = {
      'main.m3u8':
        '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000\nv0.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2000000\nv1.m3u8',
      'v0.m3u8': list(ranges),
      'v1.m3u8': list(rates),
    };
    const { player, hls } = attached({ controller }, { files });
    hls.loadLevel = 1;
    wait(1);
    hls.loadLevel = -1;
    player.ask();
    wait(1);
    player.request(player.fragment(0, 0));
    player.loaded(player.fragment(0, 0), 1e5);
    player.ask();
    expect(controller.states.at(-1)!.upcomingSizesBits).toEqual([
      [1.6e6, 8e6],
      [2.4e6, 12e6],
    ]);
  });
});
