import { describe, expect, test } from '@jest/globals';
import type { HlsConfig } from 'hls.js';
import { Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { LADDER_BPS } from '../../session/stand-in.fixture.ts';
import { attached, playlists, useWindow, VERSIONS } from './fake-player.fixture.ts';

useManualClock();
useWindow();

const PICTURES = ['640x360', '960x540', '1280x720'];

describe.each(VERSIONS)('levels of hls.js %s', (_, Player) => {
  /** After the first decision. */
  const played = (attributes: readonly string[] | undefined, next = 0, config: Partial<HlsConfig> = {}) => {
    const files = playlists(attributes);
    const seen = attached({ controller: new ScriptedAbandoning(next) }, { Player, config, files });
    return { ...seen, ladder: () => seen.controller.states.at(-1)!.ladderBps };
  };

  /** Plays the top; then its segment fails, with this status of HTTP, and so in the levels that hls.js then tries. */
  const failed = (...statuses: (number | undefined)[]) => {
    const seen = played(undefined, 2);
    const { player } = seen;
    let index = 0;
    player.download(index, 16e6, 1);
    const fail = (...more: typeof statuses) => {
      index++;
      for (const status of more) player.send(index).failed(status);
      player.download(index, 4e6, 1);
      player.ask();
    };
    fail(...statuses);
    return { ...seen, fail };
  };

  test('a failed level is avoided for 10 s, and longer if it fails again', () => {
    const { player, ladder, fail } = failed(404);
    expect(ladder()).toEqual([1e6, 2e6]);
    wait(10);
    expect([player.ask(), ladder()]).toEqual([2, LADDER_BPS]);
    fail(404);
    wait(39);
    expect([player.ask() < 2, ladder()]).toEqual([true, [1e6, 2e6]]);
    wait(1);
    expect([player.ask(), ladder()]).toEqual([2, LADDER_BPS]);
  });

  test.each([
    ['without an answer', [undefined]],
    ['in two levels without an answer', [undefined, undefined]],
    ['in two levels', [404, 404]],
  ])('after a failure %s, which was an outage, no level is avoided, unless it fails again', (_, statuses) => {
    const { ladder, fail } = failed(...statuses);
    expect(ladder()).toEqual(LADDER_BPS);
    fail(statuses[0]);
    expect(ladder()).toEqual([1e6, 2e6]);
  });

  test('of equal bitrates, the best picture plays, by SCORE if there is one; each has its id', () => {
    const pictures = ['1000000,RESOLUTION=640x360', '2000000,RESOLUTION=960x540', '2000000,RESOLUTION=1280x720'];
    const equal = pictures.map((one) => `BANDWIDTH=${one}`);
    const { player, hls, ladder, decisions } = played(equal, 1);
    expect(ladder()).toEqual([1e6, 2e6]);
    expect([hls.loadLevelObj!.height, decisions[0]!.representationId]).toEqual([720, '2000000-1280x720']);
    player.download(0, 8e6, 1);
    hls.removeLevel(1);
    player.ask();
    expect([hls.loadLevelObj!.height, decisions.at(-1)!.representationId]).toEqual([720, '2000000-1280x720']);
    expect(decisions.at(-1)!.state.downloads).toMatchObject([{ bitrateBps: 2e6 }]);
    const scored = equal.map((one, i) => `${one},SCORE=${[1, 3, 2][i]}`);
    expect(played(scored, 1).hls.loadLevelObj!.height).toBe(540);
    // The same picture in 25 and 50 frames per second.
    const rates = [25, 50].map((rate) => `BANDWIDTH=1000000,RESOLUTION=640x360,FRAME-RATE=${rate}`);
    expect(played(rates).decisions[0]!.representationId).toBe('1000000-640x360-1');
  });

  test('the browser is asked which levels it decodes, whichever is the first', () => {
    const { player, hls } = played(undefined, 0, { startLevel: 0 });
    const frag = player.fragment(0, 0);
    hls.trigger(Player.Events.FRAG_BUFFERED, { frag, part: null, stats: frag.stats, id: frag.type });
    expect(hls.levels.filter(({ supportedResult }) => !supportedResult)).toEqual([]);
  });

  test('a change of pathway keeps the ids, and forgets no download', () => {
    const pathways = ['a', 'b'].flatMap((id) => LADDER_BPS.map((bps) => `BANDWIDTH=${bps},PATHWAY-ID="${id}"`));
    const { player, hls, controller, ladder, decisions } = played(pathways, 1);
    const before = hls.levels;
    player.download(0, 8e6, 1);
    hls.pathwayPriority = ['b'];
    expect(hls.levels).not.toBe(before);
    expect(new Set(hls.levels.map(({ pathwayId }) => pathwayId))).toEqual(new Set(['b']));
    player.ask();
    expect(ladder()).toEqual(LADDER_BPS);
    expect(controller.states.at(-1)!.downloads).toHaveLength(1);
    const chosen = new Set(decisions.map(({ representationId }) => representationId));
    expect([...chosen]).toEqual([String(LADDER_BPS[1])]);
  });

  test.each(['', 'BANDWIDTH=2000000,'])('of "%s" for all, bitrates are estimated from the pictures', (bandwidth) => {
    const variants = PICTURES.map((one) => `${bandwidth}RESOLUTION=${one}`);
    const { player, ladder, decisions, handle } = played(variants, 2);
    expect(ladder().map((bps) => Math.round(bps / 1e5) / 10)).toEqual([0.7, 1.3, 2]);
    player.download(0, 16e6, 1);
    player.ask();
    const [, , bitrateBps] = ladder();
    const { state } = decisions.at(-1)!;
    expect(state).toMatchObject({ previousBitrateBps: bitrateBps, downloads: [{ bitrateBps }] });
    expect(state.bufferCapSeconds).toBeGreaterThan(20);
    expect(new Set(decisions.map(({ representationId }) => representationId)).size).toBe(1);
    expect(handle.state.faults).toEqual([]);
  });

  test('with neither BANDWIDTH nor RESOLUTION hls.js decides, after one fault', () => {
    const { hls, player, handle, decisions } = played(['FRAME-RATE=25', 'FRAME-RATE=50']);
    expect([hls.loadLevel, player.ask(), player.ask()]).toEqual([0, 0, 0]);
    player.download(0, 4e6, 1);
    player.ask();
    expect(decisions).toEqual([]);
    expect(handle.state).toMatchObject({ status: 'attached', faults: [{ code: 'unsupported-stream' }] });
  });

  test('a media playlist alone is one level', () => {
    const files = { ...playlists(), 'main.m3u8': playlists()['v0.m3u8']! };
    const { decisions, player, handle } = attached({ controller: new Scripted() }, { Player, files });
    player.download(0, 4e6, 1);
    player.ask();
    expect(decisions.at(-1)!.state.ladderBps).toHaveLength(1);
    expect(handle.state).toMatchObject({ status: 'attached', faults: [] });
  });

  test('as in hls.js, no choice goes up to a lower frame rate, or down to a higher one', () => {
    const of = (rate: number, i: number) => `BANDWIDTH=${i}000000,RESOLUTION=${i}60x${i}00,FRAME-RATE=${rate}`;
    const { hls, player, ladder, controller } = played([of(30, 1), of(25, 2), of(50, 3), of(25, 4)], 0);
    expect([hls.loadLevel, ladder()]).toEqual([0, [1e6, 3e6]]);
    controller.next = 2;
    hls.loadLevel = 3;
    hls.loadLevel = -1;
    player.ask();
    // The lowest is always allowed.
    expect(ladder()).toEqual([1e6, 2e6, 4e6]);
  });
});

test('until the abrSwitchInterval of hls.js 1.7 has passed, the level stays, except in an abandonment', () => {
  const controller = new ScriptedAbandoning(1);
  const { hls, player, decisions } = attached({ controller }, { config: { abrSwitchInterval: 10 } });
  // hls.js has loaded the playlist of the chosen level at its start.
  player.download(0, 8e6, 1);
  controller.next = 0;
  for (let i = 1; i < 4; i++) {
    expect([player.ask(), hls.nextAutoLevel]).toEqual([1, 1]);
    player.download(i, 8e6, 1);
  }
  expect(new Set(decisions.map(({ representationId }) => representationId))).toEqual(new Set(['2000000']));
  wait(7);
  controller.next = 2;
  expect(player.ask()).toBe(2);
  expect(decisions.at(-1)!).toMatchObject({ representationId: '4000000', state: { ladderBps: LADDER_BPS } });
  controller.next = controller.instead = 0;
  player.send(4);
  wait(0.5);
  expect(player.abandon()).toBe(0);
  expect(decisions.at(-1)).toMatchObject({ kind: 'abandon', representationId: '1000000' });
  expect(hls.config.abrSwitchInterval).toBe(10);
  expect([player.ask(), player.ask()]).toEqual([0, 0]);
});
