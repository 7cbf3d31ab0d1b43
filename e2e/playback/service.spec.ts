/** A page decides with the forecasts of a service beside a simulated dish, and goes on when the service ends. */

import type * as serviceClient from '../../predictor/service-client/index.ts';
import { startService, syntheticDish } from '../../service/index.ts';
import { built, CORE, expect, type LabPlayer, test } from './playback-test.ts';

const LINK_BPS = 4e6;
const CAPACITY = { startUtcMs: 0, wrapSeconds: 15, stepEndsSeconds: [15], ratesBps: [LINK_BPS] };

test.use({
  files: async ({}, use) =>
    use({ '/leo-abr.service.js': ['text/javascript', await built({ mode: 'plugin-service' })] }),
});

test("decisions use a service's forecasts, and go on without it", CORE, async ({ labPage, stream }) => {
  const dish = syntheticDish({ seed: 1, capacity: CAPACITY });
  const service = await startService({ version: '1.2.3', port: 0, dish });
  const manifest = `${stream({ segmentCount: 60, link: { 60: LINK_BPS } })}manifest.mpd`;
  await labPage.evaluate(
    async ({ manifest, url }) => {
      const path = '/leo-abr.service.js';
      const { createServiceForecaster }: typeof serviceClient = await import(path);
      const { decisions } = window.lab.start({
        manifest,
        options: { forecasters: [createServiceForecaster(url)] },
        settings: { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } },
      });
      const isUsed = () => decisions.at(-1)?.decision.forecastSource === 'service';
      await window.lab.until("the service's forecast", isUsed);
    },
    { manifest, url: service.url },
  );
  await service.close();
  const after = await labPage.evaluate(async () => {
    const { video, decisions, faults } = window.lab.players[0]! as LabPlayer;
    const from = video.currentTime;
    const isWithout = () => decisions.at(-1)!.decision.forecastSource === 'built-in' && video.currentTime > from + 3;
    await window.lab.until('a forecast of its own', isWithout);
    return faults.map(({ code }) => code);
  });
  expect(after).toEqual([]);
});
