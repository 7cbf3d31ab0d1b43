import { expect, test } from '@jest/globals';
import { broken, Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { ranges } from '../../session/stand-in.fixture.ts';
import { asPlayer, attached, FakePlayer, fakeVideo } from './fake-player.fixture.ts';
import { type DashPlayer, rangeBits, whyUnsupported } from './player.ts';
import { applySettings } from './settings.ts';

useManualClock();

/** `asked`: the state in which the controller is asked, with these changes of the player or the media element. */
function started(options = {}) {
  const seen = attached({ controller: new Scripted(), ...options });
  const { player, controller } = seen;
  const asked = (changes: Partial<typeof player> = {}, media = {}) => {
    Object.assign(player, changes);
    Object.assign(player.media, media);
    player.ask();
    return controller.states.at(-1)!;
  };
  return { ...seen, asked };
}

test('after a seek or a loss of buffered media, the next segment follows what is buffered there', () => {
  const { player, asked } = started();
  player.download(0, 3e6, 1, 0);
  player.plays();
  player.seeks(21);
  const after = { segmentIndex: 7, segmentsRemaining: 3 };
  expect(asked({}, { buffered: ranges([[20, 28]]) })).toMatchObject({ ...after, bufferLevelSeconds: 7 });
  player.send(7, 1);
  expect(asked({ bufferLevelSeconds: 11 })).toMatchObject({ segmentIndex: 8, previousBitrateBps: 2e6 });
  expect(asked({ bufferLevelSeconds: 2 }, { buffered: ranges([[20, 23]]) })).toMatchObject({ segmentIndex: 5 });
});

test('a live stream has no end and short buffer targets count without the segment', () => {
  const manifestInfo = { isDynamic: true, duration: Number.NaN };
  const state = started().asked({ representations: fakeVideo(6, { start: 1000, manifestInfo }), bufferTarget: 3 });
  expect(state).toMatchObject({ segmentIndex: 0, segmentsRemaining: Number.POSITIVE_INFINITY, bufferCapSeconds: 7 });
  expect(state.upcomingSizesBits).toHaveLength(16);
});

test.each([-1, 1e9])('a timeline tells how long each segment lasts, and so how large it is; r: %d', (r) => {
  const SegmentTimeline = { S: [{ d: 400, r: 1 }, { d: 900 }, { d: 200 }, { d: 300, r }] };
  const Representation = fakeVideo().map(() => ({ SegmentTemplate: { timescale: 100, SegmentTimeline } }));
  const period = { index: 0, mpd: { manifest: { Period: [{ AdaptationSet: [{ Representation }] }] } } };
  const representations = fakeVideo().map((one, index) => ({ ...one, index, adaptation: { index: 0, period } }));
  const state = started().asked({ representations: representations as never });
  expect(state.upcomingSeconds!.slice(0, 5)).toEqual([4, 4, 9, 2, r < 0 ? state.segmentSeconds : 3]);
  expect(state.upcomingSizesBits[2]![0]! / state.upcomingSizesBits[0]![0]!).toBeCloseTo(9 / 4, 9);
});

test('where boundaries differ, sizes are those of each representation at the same time', async () => {
  const durations = [
    [4, 4, 4, 4],
    [2, 6, 4, 4],
    [8, 8],
  ];
  const Representation = durations.map((all, i) => ({
    id: `v${i}`,
    SegmentTemplate: {
      SegmentTimeline: { S: all.map((d, k) => ({ d, ...(k === 0 && { t: 20 }) })) },
      presentationTimeOffset: 20,
    },
  }));
  const period = { index: 0, mpd: { manifest: { Period: [{ AdaptationSet: [{ Representation }] }] } } };
  const representations = fakeVideo().map((one, index) => ({ ...one, index, adaptation: { index: 0, period } }));
  const bytes = (list: number[]) => list.map((_, k) => 100 * (k + 1));
  const sizes = { representations: Object.fromEntries(durations.map((list, i) => [`v${i}`, bytes(list)])) };
  const { player, asked } = started({ sizes });
  player.representations = representations as never;
  await new Promise(process.nextTick);
  player.download(0, 3e6, 1, 0);
  const state = asked();
  expect(state.upcomingSizesBits.slice(0, 2)).toEqual([
    [1600, 1600, 800],
    [2400, 2400, 800],
  ]);
  expect(state).toMatchObject({ segmentIndex: 1, nextSeconds: [4, 4, 4] });
});

test('when the page comes to allow more, dash.js may replace what is buffered, but not during a download', () => {
  const { player, controller } = started();
  const { buffer } = player.settings.streaming;
  const asked = (bitrateLimit: number) => {
    Object.assign(player, { bitrateLimit });
    controller.next = bitrateLimit - 1;
    return [player.ask(), buffer.fastSwitchEnabled];
  };
  expect(asked(1)).toEqual([0, false]);
  const sent = player.send(0, 0);
  expect(asked(3)).toEqual([player.current, false]);
  sent.completed(4e6);
  expect(asked(3)).toEqual([2, null]);
  expect(asked(3)).toEqual([2, false]);
  expect(asked(1)).toEqual([0, false]);
  // The page has chosen since.
  buffer.fastSwitchEnabled = true;
  expect(asked(1)).toEqual([0, true]);
  expect(asked(3)).toEqual([2, true]);
});

test('asked in a download, as when the element is resized, nothing switches: dash.js would not abandon it for that', () => {
  const { player, controller } = started();
  Object.assign(player, { current: 2 });
  player.send(0, 2);
  controller.next = 0;
  expect(player.ask()).toBe(2);
});

test.each([
  ['video', 0],
  ['audio', 1],
])('after a switch of the %s track, %d downloads are abandoned before dash.js asks again', (type, count) => {
  const controller = new ScriptedAbandoning(2);
  const { player } = attached({ controller });
  player.ask();
  player.send(0, 2);
  player.emit('currentTrackChanged', { oldMediaInfo: { type }, newMediaInfo: { type } });
  controller.instead = 0;
  wait(1);
  expect(player.qualitySet).toHaveLength(count);
});

test('what the page forbids when it hears of a choice is no opinion', () => {
  const { player, controller, handle } = started();
  handle.on('decision', () => Object.assign(player, { bitrateLimit: 1 }));
  controller.next = 2;
  const opinions = player.instances.map((rule) => rule.getSwitchRequest(player.rulesContext()).representation);
  expect(opinions).toEqual([null]);
});

/** With these, in pictures of 360, 720 and 1080 lines. */
const playing = (bitratesBps: number[], qualityRanking: number[] = []) => {
  const representations = fakeVideo().map((one, i) => ({
    ...one,
    ...{ bandwidth: bitratesBps[i]!, width: 640 * (i + 1), height: 360 * (i + 1) },
    qualityRanking: qualityRanking[i] ?? Number.NaN,
  }));
  const seen = started();
  seen.player.representations = representations;
  seen.controller.next = 1;
  return seen;
};

test('of equal bitrates, the best picture is chosen, by its ranking if there is one', () => {
  const { player, asked } = playing([1e6, 2e6, 2e6]);
  expect([asked().ladderBps, player.ask()]).toEqual([[1e6, 2e6], 2]);
  expect(playing([1e6, 2e6, 2e6], [3, 1, 2]).player.ask()).toBe(1);
});

test("bitrates are the next source's, though its ids are the same", () => {
  const { player, asked } = playing([1e6, 2e6, 4e6]);
  asked();
  player.nextSource();
  const representations = player.representations.map((one) => ({ ...one, bandwidth: 3 * one.bandwidth }));
  expect(asked({ representations }).ladderBps).toEqual([3e6, 6e6, 12e6]);
});

test("dash.js's initial representation may be the lesser of equal bitrates", () => {
  const { player, controller } = playing([1e6, 2e6, 2e6]);
  player.settings.streaming.abr.initialBitrate.video = 2000;
  player.current = 1;
  controller.next = 0;
  expect(player.ask()).toBe(1);
});

test.each([
  ['missing', [Number.NaN, 1e6, 2e6]],
  ['all missing', [0, 0, 0]],
  ['all equal', [2e6, 2e6, 2e6]],
])('bitrates that are %s are estimated, for the ladder and for requests', (_, bitratesBps) => {
  const { player, asked, handle, controller } = playing(bitratesBps);
  controller.next = 0;
  const { ladderBps } = asked();
  expect(ladderBps).toHaveLength(3);
  expect(ladderBps[0]).toBeGreaterThan(1e5);
  expect(ladderBps).toEqual([...ladderBps].sort((a, b) => a - b));
  player.download(0, 4e6, 1, 0);
  // The page's limits change no estimate.
  player.bitrateLimit = 1;
  expect(asked()).toMatchObject({ ladderBps: [ladderBps[0]], downloads: [{ bitrateBps: ladderBps[0] }] });
  expect(handle.state.faults).toEqual([]);
});

test('dash.js decides where bitrates cannot be known, after one fault', () => {
  const { player, handle, controller } = started();
  player.representations = fakeVideo().map((one) => ({ ...one, bandwidth: Number.NaN }));
  expect([player.ask(), player.ask()]).toEqual([undefined, undefined]);
  expect(handle.state.faults).toMatchObject([{ code: 'unsupported-stream' }]);
  expect(controller.states).toEqual([]);
});

test('playback rate and pause are those of the media element', () => {
  const { player, asked } = started();
  // Before the first picture, a paused element waits for data.
  expect(asked({}, { paused: true })).toMatchObject({ started: false, isPaused: false });
  player.plays();
  expect(asked({}, { paused: false, playbackRate: 2 })).toMatchObject({ playbackRate: 2, isPaused: false });
  expect(asked({}, { paused: true, playbackRate: 0.5 })).toMatchObject({ playbackRate: 0.5, isPaused: true });
  // dash.js may set a rate of 0 in a stall.
  expect(asked({}, { paused: false, playbackRate: 0 })).toMatchObject({ playbackRate: 1, isPaused: false });
  expect(asked({ getVideoElement: broken })).toMatchObject({ playbackRate: 1, isPaused: false });
});

test("counts dash.js's buffer with the playback since its last event, and its present target", () => {
  const { controller, player } = attached({ controller: new Scripted() });
  player.bufferLevelSeconds = 4;
  player.media.currentTime = 0.5;
  player.ask();
  player.bufferTarget = 30;
  player.ask();
  const caps = [{ bufferCapSeconds: 18 }, { bufferCapSeconds: 30 }];
  expect(controller.states).toMatchObject(caps.map((cap) => ({ bufferLevelSeconds: 3.5, ...cap })));
});

test('an unexpected dash.js causes one fault and no choice', () => {
  const { player, handle } = attached({ controller: new Scripted() });
  for (const one of player.representations) Object.assign(one, { segmentDuration: Number.NaN, fragmentDuration: null });
  expect(player.ask()).toBeUndefined();
  const message = 'dash.js is not as expected: representation v0 has no segment duration';
  expect(handle.state.faults).toMatchObject([{ code: 'player-failed', message }]);
});

test('an abandonment in which dash.js fails causes one fault', () => {
  const { player, controller, handle } = attached({ controller: new ScriptedAbandoning() });
  player.ask();
  controller.instead = 0;
  player.send(0, 2);
  player.qualitySet.push = broken;
  expect(() => wait(3)).not.toThrow();
  expect(handle.state.faults).toMatchObject([{ message: 'dash.js is not as expected: broken' }]);
});

test.each<[player: unknown, why: string | undefined]>([
  [new FakePlayer(), undefined],
  [
    Object.assign(new FakePlayer(), { getVersion: () => '4.7.4', getABRCustomRules: undefined }),
    'dash.js 4.7.4 is not 5.1 or later of version 5: it has no getABRCustomRules()',
  ],
  ...['4.7.4', '6.0.0', '55.0.0'].map((version): [unknown, string] => [
    Object.assign(new FakePlayer(), { getVersion: () => version }),
    `dash.js ${version} is not 5.1 or later of version 5`,
  ]),
])('whyUnsupported: player %#', (player, why) => {
  expect(whyUnsupported(player as DashPlayer)).toBe(why);
});

test('5.1 is supported without a threshold between BOLA and throughput; 5.0, whose rules have no priority, is not', () => {
  const player = new FakePlayer();
  player.getVersion = () => '5.1.0';
  player.settings.streaming.abr.hybridSwitchBufferTime = undefined;
  expect(whyUnsupported(asPlayer(player))).toBeUndefined();
  player.getVersion = () => '5.0.3';
  for (const rule of Object.values(player.settings.streaming.abr.rules)) Reflect.deleteProperty(rule, 'priority');
  expect(whyUnsupported(asPlayer(player))).toContain('dash.js 5.0.3');
});

test('byte ranges, and what is none', () => {
  expect(['0-99', '100-100'].map(rangeBits)).toEqual([800, 8]);
  expect(['100-', '0-', '-9', '', null, undefined].map(rangeBits)).toEqual(Array(6).fill(undefined));
});

test('applies the needed settings and restores the previous ones', () => {
  const player = new FakePlayer();
  const before = structuredClone(player.settings);
  const restore = applySettings(asPlayer(player));
  const { streaming } = player.settings;
  expect(streaming.abr.rules).toMatchObject({
    throughputRule: { active: true, priority: 0 },
    // dash.js never chooses it, because the threshold is infinite.
    bolaRule: { active: true, priority: 0.5 },
    insufficientBufferRule: { active: false },
    switchHistoryRule: { active: false },
    abandonRequestsRule: { active: false },
    droppedFramesRule: before.streaming.abr.rules.droppedFramesRule,
  });
  expect(streaming.abr.hybridSwitchBufferTime).toBe(Number.POSITIVE_INFINITY);
  expect(streaming.abr.throughput.useResourceTimingApi).toBe(false);
  expect([streaming.cacheInitSegments, streaming.buffer.fastSwitchEnabled]).toEqual([true, false]);
  restore();
  expect(player.settings).toEqual(before);
});

test("keeps later changes by the page, and a page's own value for fast switching", () => {
  const player = new FakePlayer();
  player.settings.streaming.buffer.fastSwitchEnabled = true;
  const restore = applySettings(asPlayer(player));
  expect(player.settings.streaming.buffer.fastSwitchEnabled).toBe(true);
  player.settings.streaming.abr.rules.switchHistoryRule.active = true;
  player.settings.streaming.abr.throughput.useResourceTimingApi = true;
  restore();
  expect(player.settings.streaming.abr.rules.switchHistoryRule.active).toBe(true);
  expect(player.settings.streaming.cacheInitSegments).toBe(false);
});

test('switches BOLA off without a threshold, and sets no setting that this dash.js lacks', () => {
  const player = new FakePlayer();
  Reflect.deleteProperty(player.settings.streaming.abr, 'hybridSwitchBufferTime');
  Reflect.deleteProperty(player.settings.streaming.abr.rules, 'loLPRule');
  const before = structuredClone(player.settings);
  const restore = applySettings(asPlayer(player));
  expect(player.settings.streaming.abr.rules.bolaRule.active).toBe(false);
  expect(JSON.stringify(player.updates)).not.toMatch(/hybridSwitchBufferTime|loLPRule/);
  restore();
  expect(player.settings).toEqual(before);
});
