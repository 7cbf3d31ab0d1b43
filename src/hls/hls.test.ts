import { describe, expect, test } from '@jest/globals';
import type { BufferAppendingData, FragParsedData, HlsConfig, MediaFragment, Part } from 'hls.js';
import { Scripted, Steady, useManualClock } from '../../session/scripted.fixture.ts';
import { attached, livePlaylists, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

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

useManualClock();
useWindow();

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
