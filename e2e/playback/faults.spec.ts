/** If forecasters, time source, listener, sizes and storage fail, playback goes on. players.spec.ts: controllers. */

import { CORE_WITH_FAULTS, expect, expectBuiltInForecasts, test } from './playback-test.ts';

test('whatever fails on the page is one fault each at most', CORE_WITH_FAULTS, async ({ labPage, stream }) => {
  const folder = stream({ segmentCount: 8 });
  const seen = await labPage.evaluate(async (folder) => {
    const broken = (): never => {
      throw new Error('no');
    };
    const idle = { start() {}, observe() {} };
    const wrong = (nowSeconds: number) => ({
      issuedAtMs: nowSeconds * 1000,
      source: 'wrong',
      stepEndsSeconds: [4, 8],
      levels: [0.1, 0.9],
      quantilesBps: [
        [Number.NaN, -3],
        [1e30, 2],
      ],
      rankCorrelation: 7,
      handovers: [],
    });
    Object.defineProperty(window, 'localStorage', { get: broken });
    const options = {
      forecasters: [
        { name: 'throwing', start: broken, observe: broken, latest: broken },
        { name: 'silent', ...idle, latest: () => undefined },
        { name: 'wrong', ...idle, latest: wrong },
      ],
      timeSource: { now: broken },
      sizes: `${folder}no-such-file.json`,
    };
    // A small buffer, so that decisions are spread over the session.
    const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
    const { video, handle, ...lab } = window.lab.start({ manifest: `${folder}manifest.mpd`, options, settings });
    handle.on('decision', broken);
    await window.lab.until('the end', () => video.ended);
    handle.detach();
    const { decisions, requests } = lab;
    return { decisions, requests, faults: lab.faults.map(({ code }) => code), known: handle.state.faults.length };
  }, folder);
  expect(seen.decisions).toHaveLength(8);
  expect(seen.requests).toHaveLength(8);
  expect(seen.known).toBe(5);
  const faults = ['forecaster-failed', 'forecaster-failed', 'listener-failed', 'sizes-unusable', 'time-source-failed'];
  expect(seen.faults.sort()).toEqual(faults);
  expect(new Set(seen.decisions.map(({ state }) => state.utcMs))).toEqual(new Set([undefined]));
  expectBuiltInForecasts(seen.decisions);
});
