import { describe, expect, test } from '@jest/globals';
import type { BufferAppendingData, FragParsedData, HlsConfig, MediaFragment, Part } from 'hls.js';
import { bitsOf, Scripted, ScriptedAbandoning, Steady, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { attached, livePlaylists, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

/** `frag` is the first segment; `decided`: the state of the next decision. */
function started(controller: Scripted = new Scripted()) {
  const steady = new Steady();
  const seen = attached({ controller, forecasters: [steady] });
  const { player } = seen;
  const level = player.ask();
  const decided = () => {
    player.ask();
    return controller.states.at(-1)!;
  };
  return { ...seen, steady, frag: player.fragment(0, level), decided };
}

test('a segment in flight has the size that the loader tells', () => {
  const { controller, player, frag } = started(new ScriptedAbandoning());
  const stats = player.request(frag);
  wait(0.25);
  Object.assign(stats, { total: 3e5, loaded: 1e5 });
  wait(0.1);
  expect((controller as ScriptedAbandoning).inFlights.at(-1)).toMatchObject({ receivedBits: 8e5, sizeBits: 24e5 });
});

test('audio is measured and not decided on, subtitles and init segments are neither', () => {
  const { player, frag, decisions, steady, decided } = started();
  player.request(frag);
  for (const [type, sn] of Object.entries({ audio: 0, subtitle: 0, main: 'initSegment' })) {
    const other = Object.assign(Object.create(frag), { stats: {}, sn }) as MediaFragment;
    Object.defineProperty(other, 'type', { value: type });
    const stats = player.request(other);
    for (let i = 1; i < 5; i++) {
      wait(0.1);
      stats.loaded = i * 25e3;
    }
    player.loaded(other, 1e5);
  }
  wait(0.1);
  player.loaded(frag, 5e5);
  expect(decided().downloads).toMatchObject([{ receivedBits: 4e6 }]);
  expect(decisions.map(({ state }) => state.segmentIndex)).toEqual([0, 0, 1]);
  player.send(1);
  expect(bitsOf(steady)).toBeCloseTo(0.8e6);
});

test('neither the error of an abort nor one without a segment ends the next request for the same segment', () => {
  const { player, frag, handle, decided } = started();
  const stats = player.request(frag);
  wait(0.5);
  stats.loaded = 1e5;
  frag.abortRequests();
  player.request(frag);
  player.error('networkError', 'aborted', frag);
  player.error('mediaError', 'bufferStalledError');
  wait(1);
  player.loaded(frag, 5e5);
  expect(decided().downloads).toMatchObject([
    { abandoned: true, receivedBits: 8e5 },
    { receivedBits: 4e6, downloadSeconds: 1 },
  ]);
  expect(handle.state.faults).toEqual([]);
});

test("requests of a page's loader that hides an abort end with the next request", () => {
  const { player, frag, decided } = started();
  player.request(frag);
  frag.loader = null;
  wait(1);
  player.download(1, 4e6, 1);
  expect(decided().downloads).toMatchObject([{ abandoned: true }, { receivedBits: 4e6 }]);
});

test('a loader that pretends to be done from the start is measured at its end, and not watched', () => {
  const { controller, player, frag, steady, decided } = started(new ScriptedAbandoning());
  controller.next = 2;
  player.ask();
  for (const i of [0, 1]) {
    const stats = player.request(player.fragment(i, 0), undefined, { loaded: 1, total: 1 });
    controller.instead = 0;
    wait(2);
    expect(stats.aborted).toBe(false);
    player.loaded(player.fragment(i, 0), 5e5);
  }
  const aborted = player.request(frag, undefined, { loaded: 1, total: 1 });
  wait(0.1);
  frag.abortRequests();
  expect(aborted.aborted).toBe(true);
  expect((controller as ScriptedAbandoning).inFlights).toEqual([]);
  const { downloads, upcomingSizesBits } = decided();
  expect(downloads).toMatchObject([
    { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: expect.closeTo(2) },
    { receivedBits: 4e6, sizeBits: 4e6, downloadSeconds: expect.closeTo(2) },
    { abandoned: true, receivedBits: 0, sizeBits: 4e6 },
  ]);
  for (const sizes of upcomingSizesBits) expect(Math.min(...sizes)).toBeGreaterThan(1e6);
  expect(steady.observations.filter(({ kind }) => kind === 'throughput')).toEqual([]);
});

test('a loader that has reported nothing before the end is not watched, until it reports', () => {
  const { controller, player } = started(new ScriptedAbandoning());
  player.request(player.fragment(0));
  wait(1);
  player.loaded(player.fragment(0), 5e5);
  const asked = () => (controller as ScriptedAbandoning).inFlights.splice(0).length > 0;
  expect(asked()).toBe(true);
  player.download(1, 4e6, 1);
  expect(asked()).toBe(false);
  player.download(2, 4e6, 1);
  expect(asked()).toBe(true);
});

test('sizes are those of byte ranges and EXT-X-BITRATE, where they are given', () => {
  const list = (lines: string[]) =>
    ['#EXTM3U', '#EXT-X-TARGETDURATION:4', '#EXT-X-VERSION:4', ...lines, '#EXT-X-ENDLIST'].join('\n');
  const ranges = [1, 2, 3].flatMap((n) => ['#EXTINF:4,', `#EXT-X-BYTERANGE:${n}00000@${n}000000`, 'all.m4s']);
  const rates = [1, 2, 3].flatMap((n) => [`#EXT-X-BITRATE:${n}000`, '#EXTINF:4,', `${n}.m4s`]);
  const variants = [1, 2].map((n) => `#EXT-X-STREAM-INF:BANDWIDTH=${n}000000\nv${n - 1}.m3u8`);
  const files = { 'main.m3u8': ['#EXTM3U', ...variants].join('\n'), 'v0.m3u8': list(ranges), 'v1.m3u8': list(rates) };
  const { player, hls, controller } = attached({ controller: new Scripted() }, { files });
  hls.loadLevel = 1;
  wait(1);
  hls.loadLevel = -1;
  player.ask();
  wait(1);
  player.send(0, 0).completed(8e5);
  player.ask();
  expect(controller.states.at(-1)!.upcomingSizesBits.flat()).toEqual([1.6e6, 8e6, 2.4e6, 12e6]);
});

const URL_OF_SEGMENT = 'https://media.example/0.m4s';

describe.each(VERSIONS)('CMCD in hls.js %s', (_, Player) => {
  function withLoader(cmcd: boolean, config: Partial<HlsConfig> = {}) {
    const contexts: { url: string; headers?: Record<string, string> }[] = [];
    const fLoader = class {
      stats = {};
      load(context: { url: string }) {
        contexts.push(context);
      }
    } as unknown as NonNullable<HlsConfig['fLoader']>;
    const options = { cmcd, controller: new Scripted(), forecasters: [new Steady()] };
    const { player, hls, handle } = attached(options, { Player, config: { fLoader, ...config } });
    /** As hls.js's fragment loader does it. */
    const load = () => {
      const Loader = hls.config.fLoader!;
      new Loader(hls.config).load({ url: URL_OF_SEGMENT, frag: player.fragment(0) } as never, {} as never, {} as never);
      const { url, headers } = contexts.at(-1)!;
      return { value: new URL(url).searchParams.get('CMCD'), headers };
    };
    return { hls, handle, load, fLoader };
  }

  test("the option turns it on, with the plugin's keys, until it is detached", () => {
    const { load, handle, hls, fLoader } = withLoader(true);
    const value = load().value!;
    expect(value).toMatch(/^br=.*,d=4000,.*leo\.abr-cap=6000,leo\.abr-src="steady",.*,sf=h,sid=/);
    expect(value.match(/leo/g)).toHaveLength(2);
    handle.detach();
    expect([hls.config.cmcd, hls.config.fLoader, load().value]).toEqual([undefined, fLoader, null]);
  });

  test("a page's own configuration stays, with the keys in its header", () => {
    const cmcd = { sessionId: 'page', useHeaders: true, includeKeys: ['sid', 'bl', 'su'] as never[] };
    const { load, handle } = withLoader(true, { cmcd });
    const session = expect.stringMatching(/^sid="page"/);
    const headers = { 'CMCD-Request': expect.stringMatching(/leo\.abr-cap=6000/), 'CMCD-Session': session };
    expect(load()).toMatchObject({ value: null, headers });
    handle.detach();
    const request = expect.not.stringContaining('leo');
    expect(load().headers).toMatchObject({ 'CMCD-Request': request, 'CMCD-Session': session });
  });
});

describe.each(VERSIONS)('the end of parts in hls.js %s', (_, Player) => {
  function loaded() {
    const seen = attached({ controller: new Scripted() }, { Player, files: livePlaylists(4) });
    const { hls } = seen;
    const parts = hls.latestLevelDetails!.partList!;
    /** As hls.js does; an update of the playlist between the two events makes another object of the segment. */
    const load = (part: Part | null, { appended, parsed }: { appended: MediaFragment; parsed: MediaFragment }) => {
      hls.trigger(Player.Events.BUFFER_APPENDING, { frag: appended, part, type: 'video' } as BufferAppendingData);
      hls.trigger(Player.Events.FRAG_PARSED, { frag: parsed, part } as FragParsedData);
    };
    return { ...seen, parts, load };
  }

  test('is known where hls.js looks for it', () => {
    const { parts, load } = loaded();
    const parsed = parts[0]!.fragment;
    const appended = Object.create(parsed) as MediaFragment;
    for (const part of [parts[1]!, parts[2]!]) {
      load(part, { appended, parsed });
      expect(appended.endDTS).toBe(part.end);
    }
  });

  test("is hls.js's own matter for whole segments, and after detach()", () => {
    const { hls, parts, load, handle } = loaded();
    const whole = hls.latestLevelDetails!.fragments[0]!;
    load(null, { appended: whole, parsed: whole });
    expect(whole.endDTS).toBeUndefined();
    handle.detach();
    const { fragment } = parts[1]!;
    load(parts[1]!, { appended: fragment, parsed: fragment });
    expect(fragment.endDTS).toBeUndefined();
  });
});
