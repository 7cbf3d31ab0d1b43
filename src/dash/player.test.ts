import { describe, expect, test } from '@jest/globals';
import type { MediaPlayerClass } from 'dashjs';
import { asPlayer, FakePlayer } from './fake-player.fixture.ts';
import { type DashPlayer, rangeBits, setting, whyUnsupported } from './player.ts';

test('a dash.js MediaPlayer has the type DashPlayer', () => {
  const accept = (player: MediaPlayerClass): DashPlayer => player;
  expect(accept).toBeDefined();
});

describe('whyUnsupported', () => {
  test('accepts 5.2, and 5.1 without a threshold between BOLA and throughput', () => {
    const player = new FakePlayer();
    expect(whyUnsupported(asPlayer(player))).toBeUndefined();
    player.settings.streaming.abr.hybridSwitchBufferTime = undefined;
    player.getVersion = () => '5.1.0';
    expect(whyUnsupported(asPlayer(player))).toBeUndefined();
  });

  test('names a missing method', () => {
    expect(whyUnsupported({} as DashPlayer)).toBe('the player has no getVersion()');
    expect(whyUnsupported(undefined as unknown as DashPlayer)).toBe('expected a dash.js player, got undefined');
    const player = Object.assign(new FakePlayer(), { addABRCustomRule: undefined });
    expect(whyUnsupported(player as unknown as DashPlayer)).toBe('the player has no addABRCustomRule()');
  });

  test.each(['4.7.4', '6.0.0', '55.0.0'])('refuses version %s', (version) => {
    const player = new FakePlayer();
    player.getVersion = () => version;
    expect(whyUnsupported(asPlayer(player))).toBe(`dash.js ${version} is not 5.1 or later of version 5`);
  });

  test('refuses 5.0, whose rules have no priority', () => {
    const player = new FakePlayer();
    player.getVersion = () => '5.0.3';
    for (const rule of Object.values(player.settings.streaming.abr.rules)) Reflect.deleteProperty(rule, 'priority');
    expect(whyUnsupported(asPlayer(player))).toContain('dash.js 5.0.3');
  });
});

test('settings are read by path', () => {
  const player = asPlayer(new FakePlayer());
  expect(setting(player, 'abr.rules.bolaRule.active')).toBe(true);
  expect(setting(player, 'buffer.fastSwitchEnabled')).toBeNull();
  expect(setting(player, 'buffer.fastSwitchEnabled.deeper')).toBeUndefined();
  expect(setting(player, 'no.such.thing')).toBeUndefined();
});

test.each([
  ['0-99', 800],
  ['100-100', 8],
  ['100-', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('a byte range of %s', (range, bits) => {
  expect(rangeBits(range)).toBe(bits);
});
