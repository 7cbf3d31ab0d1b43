/** The examples of docs/examples/dashboards.ts send what dashboards read: CMCD of version 2, Mux's dimensions, JSON. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { ROOT } from '../builds.ts';
import { describePlayers, expect, type LabPlayerName, test } from './playback-test.ts';

const SOURCE = readFileSync(join(ROOT, 'docs/examples/dashboards.ts'), 'utf8');
const { code } = transformSync(SOURCE, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } });
test.use({ files: { '/dashboards.js': ['text/javascript', code] } });
const TARGET = 'https://dashboard.example/cmcd';

const PLAYERS: [LabPlayerName][] = [['dash'], ['hls.js'], ['Shaka 5']];
describePlayers(PLAYERS, () => {
  test("the plugin's keys are in CMCD's event reports", async ({ labPage, onStream }) => {
    const bodies: string[] = [];
    await labPage.route(TARGET, (route) => {
      bodies.push(route.request().postData() ?? '');
      return route.fulfill({ status: 204, headers: { 'access-control-allow-origin': '*' } });
    });
    await onStream({ segmentCount: 20, link: { 60: 20e6 } }, async (manifest) => {
      const path = '/dashboards.js';
      const { cmcdKeys, hlsCmcd, dashCmcd, shakaCmcd } = await import(path);
      const { lab: page, dashjs, shaka } = window;
      let lab: Awaited<ReturnType<typeof page.play>> | undefined;
      const keys = () => cmcdKeys('b', lab?.handle);
      const url = 'https://dashboard.example/cmcd';
      const cmcd = {
        enabled: true,
        version: 2,
        eventTargets: [{ enabled: true, url, events: ['t', 'ps'], interval: 1 }],
      };
      // The page has the handle before the player, the lab has it afterwards.
      const handle = { on: (...given: ['decision', () => void]) => setTimeout(() => lab!.handle.on(...given)) };
      const settings = dashjs ? { streaming: { cmcd } } : { cmcd: shaka ? cmcd : hlsCmcd(url, keys, handle) };
      if (!dashjs && !shaka) settings.cmcd.eventTargets[0].interval = 1;
      const before = ({ player }: { player: unknown }) =>
        dashjs ? dashCmcd(player, keys) : shaka && shakaCmcd(player, url, keys);
      lab = await page.play({ manifest, settings, before });
      await page.until('six seconds', ({ video }) => video.currentTime > 6);
    });
    const reports = bodies.flatMap((body) => body.trim().split('\n'));
    expect(reports.length).toBeGreaterThan(2);
    for (const report of reports) {
      expect(report).toMatch(/^[a-z][\w.-]*(=("[^"]*"|[\w.()-]+))?(,[a-z][\w.-]*(=("[^"]*"|[\w.()-]+))?)*$/);
    }
    expect(reports.at(-1)).toMatch(
      /com\.example-arm="b",com\.example-bits=\d{7,},com\.example-faults=0,com\.example-quality=[1-9]/,
    );
  });
});

test('Mux gets custom dimensions, a server JSON', async ({ labPage }) => {
  const beacon = labPage.waitForRequest(TARGET);
  await labPage.route(TARGET, (route) => route.fulfill({ status: 204 }));
  const sent = await labPage.evaluate(async (url) => {
    const path = '/dashboards.js';
    const { toMux, toBeacon } = await import(path);
    const seen: object[] = [];
    const report = { arm: 'b', perceivedQoe: 84.4, receivedBits: 1e9 };
    const reports = { on: (_: string, listener: (one: object) => void) => listener(report) };
    toMux(reports, { updateData: (_: unknown, data: object) => seen.push(data) }, document.body);
    toBeacon(reports, url);
    return seen;
  }, TARGET);
  expect(sent).toEqual([{ custom_1: 'b', custom_2: '84', custom_3: 'none', custom_4: '1000000000' }]);
  expect((await beacon).postDataJSON()).toEqual({ arm: 'b', quality: 84, faults: 'none', bits: 1e9 });
});
