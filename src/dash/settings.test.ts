import { expect, test } from '@jest/globals';
import { asPlayer, FakePlayer } from './fake-player.fixture.ts';
import { applySettings } from './settings.ts';

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
