import { expect, test } from '@jest/globals';
import { asPlayer, FakePlayer } from './fake-player.fixture.ts';
import { type DashPlayer, rangeBits, whyUnsupported } from './player.ts';

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
