/** Seeks, other sources, resets, detachment, periods and track switches. */

import type { DecisionEvent } from '../../src/index.ts';
import { CORE, editTexts, expect, type SentRequest, test } from './playback-test.ts';

const chosen = ({ state, representationId }: DecisionEvent) => ({ index: state.segmentIndex, representationId });
const asked = ({ index, representationId }: SentRequest) => ({ index, representationId });

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
    return { decisions, requests: requests.slice(landedAt) };
  });
  const [first, ...requests] = seen.requests.map(asked);
  expect([19, 20]).toContain(first!.index);
  // dash.js does not call its rules for the first segment after a seek.
  const decided = seen.decisions.map(chosen).filter(({ index }) => index > first!.index);
  const n = Math.min(decided.length, requests.length);
  expect(n).toBeGreaterThanOrEqual(2);
  expect(decided.slice(0, n)).toEqual(requests.slice(0, n));
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
    const settings = { ...player.getSettings().streaming!.abr!.rules!.insufficientBufferRule };
    handle.detach();
    return { rules, settings, decisions, afterDetach: player.getSettings().streaming! };
  }, manifests);
  expect(seen.rules).toBe(1);
  expect(seen.settings.active).toBe(false);
  for (const session of [1, 2, 3]) {
    const states = seen.decisions.filter((event) => event.session === session).map(({ state }) => state);
    expect(new Set(states.map(({ segmentIndex }) => segmentIndex)).size).toBe(states.length);
    expect(states[0]).toMatchObject({ nowSeconds: 0, segmentIndex: 0, downloads: [], bufferLevelSeconds: 0 });
    expect(states[0]!.previousBitrateBps).toBeUndefined();
  }
  expect(seen.afterDetach.buffer!.bufferTimeDefault).toBe(7);
  expect(seen.afterDetach.abr!.rules!.insufficientBufferRule!.active).toBe(true);
  expect(seen.afterDetach.cacheInitSegments).toBe(false);
});

test('history continues over periods, and indices count from the start of the presentation', async ({ onStream }) => {
  const seen = await onStream({ segmentCount: 6, media: { periods: 3 } }, async (manifest) => {
    const { video, decisions, requests } = window.lab.start({ manifest });
    await window.lab.until('the end', () => video.ended);
    return { decisions, requests };
  });
  expect(new Set(seen.requests.map(({ streamId }) => streamId)).size).toBe(3);
  const representations = seen.requests.map(({ representationId }) => representationId);
  expect(seen.decisions.map(({ representationId }) => representationId)).toEqual(representations);
  expect(seen.decisions).toHaveLength(6);
  for (const [i, { session, state }] of seen.decisions.entries()) {
    expect(session).toBe(1);
    expect(state).toMatchObject({ segmentIndex: i, segmentsRemaining: 6 - i, downloads: { length: i } });
    if (i === 0) continue;
    expect(state.bufferLevelSeconds).toBeGreaterThan(0.5);
    expect(state.previousBitrateBps).toBeDefined();
  }
});

test('after a track switch, decisions are on segments that dash.js requests', async ({ labPage, onStream }) => {
  await editTexts(labPage, '**/manifest.mpd', (text) => {
    const set = /<AdaptationSet[\s\S]*?<\/AdaptationSet>/.exec(text)![0];
    const other = set
      .replace('id="1"', 'id="9"')
      .replace('segmentAlignment', 'lang="fr" segmentAlignment')
      .replace(/Representation id="video-/g, 'Representation id="other-');
    return text.replace(set, `${set}\n${other}`);
  });
  const seen = await onStream({ segmentCount: 30 }, async (manifest) => {
    const settings = { streaming: { trackSwitchMode: { video: 'alwaysReplace' } } };
    const { player, video, decisions, requests } = window.lab.start({ manifest, settings });
    await window.lab.until('a good buffer', () => requests.length >= 8 && video.currentTime > 1);
    const decided = decisions.length;
    const other = player.getTracksFor('video').find(({ lang }) => lang === 'fr')!;
    player.setCurrentTrack(other);
    const isOther = ({ representationId }: { representationId: string }) => representationId.startsWith('other');
    await window.lab.until('segments of the other', () => requests.filter(isOther).length >= 5);
    const from = requests.findIndex(isOther);
    return {
      before: requests[from - 1]!,
      requests: requests.slice(from),
      decisions: decisions.slice(decided).filter(isOther),
    };
  });
  const requests = seen.requests.map(asked);
  // dash.js replaced the buffer and requested earlier segments again.
  expect(requests[0]!.index).toBeLessThan(seen.before.index);
  for (const decision of seen.decisions.map(chosen)) expect(requests).toContainEqual(decision);
  expect(seen.decisions.length).toBeGreaterThanOrEqual(4);
});
