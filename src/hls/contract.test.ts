/**
 * The contract of an ABR controller, by hls.js's types (`AbrComponentAPI`), API.md (`abrController`, `nextAutoLevel`,
 * `firstAutoLevel`, `startLevel`, `bandwidthEstimate`) and its callers: all that hls.js calls or reads, in all stages of
 * a player.
 */

import { describe, expect, test } from '@jest/globals';
import type { AbrController } from 'hls.js';
import { Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { createLeoAbrController } from '../hls.ts';
import { attached, FakePlayer, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

describe.each(VERSIONS)('hls.js %s', (_, Player) => {
  const made = () => {
    const abrController = createLeoAbrController({ controller: new Scripted(), logger: null });
    return new FakePlayer(Player, { abrController, startLevel: 0 });
  };

  test('the controller answers with levels that exist and are allowed, in all stages', () => {
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

  test('the controller may be read before all else of the player is there and after destroy(), and leaves no listener', () => {
    const player = made();
    const { hls } = player;
    const abr = (hls as unknown as { abrController: AbrController }).abrController;
    expect(abr).toBeInstanceOf(Player.DefaultConfig.abrController);
    const levels = [abr.firstAutoLevel, abr.nextAutoLevel, abr.forcedAutoLevel];
    for (const level of levels) expect(Number.isInteger(level)).toBe(true);
    player.start();
    player.request(player.fragment(0, 0));
    hls.destroy();
    expect(Object.values(Player.Events).reduce((sum, event) => sum + hls.listenerCount(event), 0)).toBe(0);
    expect([abr.firstAutoLevel, abr.nextAutoLevel]).toEqual([0, -1]);
    abr.nextAutoLevel = 1;
  });

  test.each(['decide', 'abandon'])('a page may destroy the player when it hears of a choice to %s', (kind) => {
    const { player, hls, controller, handle } = attached({ controller: new ScriptedAbandoning(1) }, { Player });
    const abr = (hls as unknown as { abrController: AbrController }).abrController;
    player.download(0, 8e6, 1);
    player.plays();
    if (kind === 'abandon') player.send(1);
    handle.on('decision', () => hls.destroy());
    controller.instead = 0;
    wait(0.2);
    expect([abr.nextAutoLevel, abr.firstAutoLevel, handle.state]).toMatchObject([-1, 0, { session: 2, faults: [] }]);
  });
});
