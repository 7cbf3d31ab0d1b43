import { describe, expect, test } from '@jest/globals';
import type { BufferAppendingData, FragParsedData, MediaFragment, Part } from 'hls.js';
import { Scripted, useManualClock } from '../../session/scripted.fixture.ts';
import { attached, livePlaylists, useWindow, VERSIONS } from './fake-player.fixture.ts';

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
