/**
 * The contract of an ABR controller, by hls.js's types (`AbrComponentAPI`), API.md (`abrController`, `nextAutoLevel`,
 * `firstAutoLevel`, `startLevel`, `bandwidthEstimate`) and its callers: all that hls.js calls or reads, in all stages of
 * a player. hls.js's own controller passes it, too.
 */

import { describe, expect, test } from '@jest/globals';
import type Hls from 'hls.js';
import type { AbrController } from 'hls.js';
import { Scripted, useManualClock } from '../../session/scripted.fixture.ts';
import { createLeoAbrController } from '../hls.ts';
import { FakePlayer, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

const abrOf = (hls: Hls) => (hls as unknown as { abrController: AbrController }).abrController;

describe.each(VERSIONS)('hls.js %s', (version, Player) => {
  const controllers = {
    "hls.js's": () => Player.DefaultConfig.abrController,
    "the plugin's": () => createLeoAbrController({ controller: new Scripted(), logger: null }),
  };
  describe.each(Object.entries(controllers))('%s controller', (name, newController) => {
    const made = () => new FakePlayer(Player, { abrController: newController(), startLevel: 0 });

    test('is made before there is anything else of the player, with it as the only argument', () => {
      const { hls } = made();
      const abr = abrOf(hls);
      expect(abr).toBeInstanceOf(Player.DefaultConfig.abrController);
      const levels = [abr.firstAutoLevel, abr.nextAutoLevel, abr.forcedAutoLevel];
      for (const level of levels) expect(Number.isInteger(level)).toBe(true);
    });

    test('answers with levels that exist and are allowed, in all stages', () => {
      const player = made().start();
      const { hls } = player;
      const check = (least = 0, most = 2) => {
        for (const level of [hls.firstAutoLevel, hls.nextAutoLevel, hls.nextLoadLevel]) {
          expect(level).toBeGreaterThanOrEqual(least);
          expect(level).toBeLessThanOrEqual(most);
        }
      };
      check();
      player.download(0, 4e6, 1);
      check();
      hls.autoLevelCapping = 1;
      check(0, 1);
      hls.autoLevelCapping = -1;
      hls.loadLevel = 2;
      expect(hls.nextLoadLevel).toBe(2);
      hls.loadLevel = -1;
      check();
      player.error('mediaError', 'bufferAppendError', player.fragment(0, 0));
      check();
      hls.stopLoad();
      check();
      player.nextSource();
      check();
      hls.removeLevel(2);
      check(0, 1);
    });

    test('plays a forced level until a segment of it is loaded', () => {
      const player = made().start();
      const { hls } = player;
      player.download(0, 4e6, 1);
      hls.nextAutoLevel = 2;
      expect([abrOf(hls).forcedAutoLevel, hls.nextAutoLevel, player.ask()]).toEqual([2, 2, 2]);
      hls.nextAutoLevel = 7;
      expect(hls.nextAutoLevel).toBe(2);
      player.download(1, 16e6, 1, 2);
      expect(abrOf(hls).forcedAutoLevel).toBe(-1);
    });

    test('leaves no listener and no timer after destroy(), and then may be read', () => {
      const player = made().start();
      const { hls } = player;
      const abr = abrOf(hls);
      player.request(player.fragment(0, 0));
      hls.destroy();
      expect(Object.values(Player.Events).reduce((sum, event) => sum + hls.listenerCount(event), 0)).toBe(0);
      // hls.js 1.6's own throws.
      if (version === '1.6' && name.startsWith('hls')) return;
      expect([abr.firstAutoLevel, abr.nextAutoLevel]).toEqual([0, -1]);
      abr.nextAutoLevel = 1;
    });
  });
});
