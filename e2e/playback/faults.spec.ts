/** If controllers, forecasters, time source, listener, sizes and storage fail, playback goes on. */

import { CORE_WITH_FAULTS, expect, expectBuiltInForecasts, test } from './playback-test.ts';

test('whatever fails on the page is one fault each at most', CORE_WITH_FAULTS, async ({ labPage, stream }) => {
  const folders = [1, 2].map(() => stream({ segmentCount: 8 }));
  const seen = await labPage.evaluate(async (folders) => {
    const broken = (): never => {
      throw new Error('no');
    };
    const nonsense = { name: 'nonsense', decide: () => ({ representation: 99, controller: 'x', reason: 'y' }) };
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
    const options = [
      { controller: nonsense },
      {
        forecasters: [
          { name: 'throwing', start: broken, observe: broken, latest: broken },
          { name: 'silent', ...idle, latest: () => undefined },
          { name: 'wrong', ...idle, latest: wrong },
        ],
        timeSource: { now: broken },
        sizes: `${folders[1]}no-such-file.json`,
      },
    ];
    // A small buffer, so that decisions are spread over the session.
    const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
    const labs = options.map((own, i) =>
      window.lab.start({ manifest: `${folders[i]}manifest.mpd`, options: own, settings }),
    );
    labs[1]!.handle.on('decision', broken);
    for (const lab of labs) {
      await window.lab.until('the end', ({ video }) => video.ended, lab);
      lab.handle.detach();
    }
    return labs.map(({ decisions, requests, faults, handle }) => ({
      decisions,
      rungs: requests.map(({ rung }) => rung),
      faults: faults.map(({ code }) => code),
      known: handle.state.faults.length,
      utc: [...new Set(decisions.map(({ state }) => state.utcMs))],
    }));
  }, folders);
  expect(seen.map(({ decisions }) => decisions.length)).toEqual([0, 8]);
  expect(seen.map(({ known }) => known)).toEqual([1, 5]);
  expect(seen[0]!.faults).toEqual(['controller-failed']);
  const others = ['forecaster-failed', 'forecaster-failed', 'listener-failed', 'sizes-unusable', 'time-source-failed'];
  expect(seen[1]!.faults.sort()).toEqual(others);
  expect(seen[1]!.utc).toEqual([undefined]);
  expectBuiltInForecasts(seen[1]!.decisions);
  for (const { rungs } of seen) expect(rungs).toHaveLength(8);
  // dash.js's throughput rule decides: it begins at 1 Mbit/s and switches up.
  expect(Math.max(...seen[0]!.rungs)).toBeGreaterThanOrEqual(2);
});
