import { expect, test } from '@jest/globals';
import { broken, Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { asPlayer, attached, FakePlayer } from './fake-player.fixture.ts';
import { type DashPlayer, rangeBits, whyUnsupported } from './player.ts';
import { applySettings } from './settings.ts';

useManualClock();

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
  [Object.assign(new FakePlayer(), { addABRCustomRule: undefined }), 'the player has no addABRCustomRule()'],
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
  expect(['100-', '', null, undefined].map(rangeBits)).toEqual(Array(4).fill(undefined));
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
