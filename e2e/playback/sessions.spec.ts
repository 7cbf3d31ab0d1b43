/** Seeks, other sources, resets, late attachment, detachment, periods and track switches. */

import { CORE, editManifests, expect, test } from './playback-test.ts';

test('after a seek the index is right; the rate of playback is known', CORE, async ({ onStream }) => {
  const seen = await onStream({ segmentCount: 60 }, async (manifest) => {
    const lab = window.lab.start({ manifest });
    const { player, video, decisions, requests } = lab;
    await window.lab.until('three decisions', () => decisions.length >= 3);
    const before = requests.length;
    player.seek(20);
    await window.lab.until('segments after the seek', () => requests.length >= before + 3);
    const landedAt = requests.findIndex(({ index }) => index >= 19);
    await window.lab.until('playback there', () => video.currentTime > 20.5 && !video.seeking);
    video.playbackRate = 2;
    await window.lab.until('a decision at the rate', () => decisions.at(-1)!.state.playbackRate === 2);
    return {
      requests: requests.slice(landedAt).map(({ index, representationId }) => ({ index, representationId })),
      decisions: decisions
        .filter(({ state }) => state.segmentIndex >= 19)
        .map(({ state, representationId }) => ({ index: state.segmentIndex, representationId, state })),
    };
  });
  expect([19, 20]).toContain(seen.requests[0]!.index);
  // dash.js does not call its rules for the first segment after a seek.
  const decided = seen.decisions.filter(({ index }) => index > seen.requests[0]!.index);
  const n = Math.min(decided.length, seen.requests.length - 1);
  expect(n).toBeGreaterThanOrEqual(2);
  expect(decided.slice(0, n).map(({ index, representationId }) => ({ index, representationId }))).toEqual(
    seen.requests.slice(1, n + 1),
  );
});

test('another source begins another session; a reset player gets its rule again', CORE, async ({ labPage, stream }) => {
  const manifests = [1, 2, 3].map(() => `${stream({ segmentCount: 20 })}manifest.mpd`);
  const seen = await labPage.evaluate(async (manifests) => {
    const lab = window.lab.start({ manifest: manifests[0]! });
    const { player, video, handle, decisions } = lab;
    const of = (session: number) => decisions.filter((event) => event.session === session);
    await window.lab.until('decisions of the first', () => of(1).length >= 3);
    player.attachSource(manifests[1]!);
    await window.lab.until('decisions of the second', () => of(2).length >= 3 && video.currentTime > 0.2);
    player.reset();
    player.updateSettings({ streaming: { buffer: { bufferTimeDefault: 7 } } });
    player.initialize(video, manifests[2]!, true);
    await window.lab.until('decisions of the third', () => of(3).length >= 3 && video.currentTime > 0.2);
    const rules = player.getABRCustomRules().length;
    const settings = structuredClone(player.getSettings().streaming!.abr!.rules);
    const firsts = [1, 2, 3].map((session) => of(session)[0]!.state);
    const counts = [1, 2, 3].map((session) => {
      const indices = of(session).map(({ state }) => state.segmentIndex);
      return { indices: indices.length, distinct: new Set(indices).size };
    });
    handle.detach();
    return { rules, settings, firsts, counts, afterDetach: player.getSettings().streaming! };
  }, manifests);
  expect(seen.rules).toBe(1);
  expect(seen.settings!.insufficientBufferRule!.active).toBe(false);
  for (const { indices, distinct } of seen.counts) expect(distinct).toBe(indices);
  for (const state of seen.firsts) {
    expect(state).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [], bufferLevelSeconds: 0 });
    expect(state.previousBitrateBps).toBeUndefined();
  }
  expect(seen.afterDetach.buffer!.bufferTimeDefault).toBe(7);
  expect(seen.afterDetach.abr!.rules!.insufficientBufferRule!.active).toBe(true);
  expect(seen.afterDetach.cacheInitSegments).toBe(false);
});

test('attached during playback, the plugin decides from the next segment on', async ({ onStream }) => {
  const seen = await onStream({ segmentCount: 9 }, async (manifest) => {
    // Detach the lab's plugin; attach another once dash.js is playing.
    const lab = window.lab.start({});
    const { player, video } = lab;
    lab.handle.detach();
    player.initialize(video, manifest, true);
    await window.lab.until('playback', () => lab.requests.length >= 3 && video.currentTime > 0.3);
    const { decisions } = lab;
    const handle = window.LeoAbr.attachLeoAbr(player, { logger: null, abandon: false });
    const from = lab.requests.length;
    handle.on('decision', (event) => decisions.push(event));
    handle.on('fault', (event) => lab.faults.push(event));
    await window.lab.until('the last decision', () => decisions.at(-1)?.state.segmentsRemaining === 1);
    await window.lab.until('its request', () => lab.requests.at(-1)!.index === 8);
    return {
      requests: lab.requests.slice(from).map(({ index, representationId }) => ({ index, representationId })),
      decided: decisions.map(({ state, representationId }) => ({ index: state.segmentIndex, representationId })),
    };
  });
  expect(seen.decided.length).toBeGreaterThan(3);
  // dash.js may have decided on one segment before.
  const requests = seen.requests.slice(seen.requests.length - seen.decided.length);
  expect(seen.decided.slice(1)).toEqual(requests.slice(1));
});

test('history continues over periods, and indices count from the start of the presentation', async ({ onStream }) => {
  const seen = await onStream({ segmentCount: 6, media: { periods: 3 } }, async (manifest) => {
    const { video, decisions, requests } = window.lab.start({ manifest });
    await window.lab.until('the end', () => video.ended);
    return {
      streams: new Set(requests.map(({ streamId }) => streamId)).size,
      requested: requests.map(({ representationId }) => representationId),
      sessions: new Set(decisions.map(({ session }) => session)).size,
      decisions: decisions.map(({ state, representationId }) => ({
        index: state.segmentIndex,
        remaining: state.segmentsRemaining,
        representationId,
        downloads: state.downloads.length,
        previous: state.previousBitrateBps,
        bufferLevelSeconds: state.bufferLevelSeconds,
        sizes: state.upcomingSizesBits[0],
      })),
    };
  });
  expect(seen).toMatchObject({ streams: 3, sessions: 1 });
  expect(seen.decisions.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.decisions.map(({ remaining }) => remaining)).toEqual([6, 5, 4, 3, 2, 1]);
  expect(seen.decisions.map(({ downloads }) => downloads)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(seen.decisions.map(({ representationId }) => representationId)).toEqual(seen.requested);
  for (const { bufferLevelSeconds } of seen.decisions.slice(1)) expect(bufferLevelSeconds).toBeGreaterThan(0.5);
  for (const { previous } of seen.decisions.slice(1)) expect(previous).toBeDefined();
});

test('after a track switch, decisions are on segments that dash.js requests', async ({ labPage, onStream }) => {
  await editManifests(labPage, (text) => {
    const set = /<AdaptationSet[\s\S]*?<\/AdaptationSet>/.exec(text)![0];
    const other = set
      .replace('id="1"', 'id="9"')
      .replace('segmentAlignment', 'lang="fr" segmentAlignment')
      .replace(/Representation id="video-/g, 'Representation id="other-');
    return text.replace(set, `${set}\n${other}`);
  });
  const seen = await onStream({ segmentCount: 30 }, async (manifest) => {
    const { player, video, decisions, requests } = window.lab.start({
      manifest,
      settings: { streaming: { trackSwitchMode: { video: 'alwaysReplace' } } },
    });
    await window.lab.until('a good buffer', () => requests.length >= 8 && video.currentTime > 1);
    const decided = decisions.length;
    const other = player.getTracksFor('video').find(({ lang }) => lang === 'fr')!;
    player.setCurrentTrack(other);
    const isOther = ({ representationId }: { representationId: string }) => representationId.startsWith('other');
    await window.lab.until('segments of the other', () => requests.filter(isOther).length >= 5);
    const from = requests.findIndex(isOther);
    return {
      before: requests[from - 1]!.index,
      requests: requests.slice(from).map(({ index, representationId }) => ({ index, representationId })),
      decisions: decisions
        .slice(decided)
        .filter(isOther)
        .map(({ state, representationId }) => ({ index: state.segmentIndex, representationId })),
    };
  });
  // dash.js replaced the buffer and requested earlier segments again.
  expect(seen.requests[0]!.index).toBeLessThan(seen.before);
  for (const decision of seen.decisions) expect(seen.requests).toContainEqual(decision);
  expect(seen.decisions.length).toBeGreaterThanOrEqual(4);
});
