/** The sources of segment sizes, and the observations of a forecaster. */

import { expect, test } from './playback-test.ts';

test('sizes come from sizes.json or the index of SegmentBase, else are learnt', async ({ labPage, stream }) => {
  const common = { segmentCount: 6, sizeSpread: 0.4 };
  const [listed, unknown] = [stream(common), stream(common)];
  const indexed = stream({ ...common, media: { addressing: 'base' } });
  const seen = await labPage.evaluate(
    async ([listed, indexed, unknown]) => {
      // The file may arrive after the first decision: only later ones are checked.
      const labs = [
        window.lab.start({ manifest: `${listed}manifest.mpd`, options: { sizes: `${listed}sizes.json` } }),
        window.lab.start({ manifest: `${indexed}manifest.mpd` }),
        window.lab.start({ manifest: `${unknown}manifest.mpd` }),
      ];
      for (const lab of labs) await window.lab.until('all decisions', ({ decisions }) => decisions.length === 6, lab);
      const sizes = await (await fetch(`${listed}sizes.json`)).json();
      return {
        truth: Object.values(sizes.representations as Record<string, number[]>),
        sizes: labs.map(({ decisions }) => decisions.map(({ state }) => state.upcomingSizesBits)),
        downloads: labs[2]!.decisions.at(-1)!.state.downloads,
      };
    },
    [listed, indexed, unknown],
  );
  /** True sizes in bits from segment `from` on. */
  const truth = (from: number) =>
    Array.from({ length: 6 - from }, (_, k) => seen.truth.map((bytes) => bytes[from + k]! * 8));
  const [fromFile, fromIndex, learnt] = seen.sizes as [number[][][], number[][][], number[][][]];
  for (let i = 1; i < 6; i++) expect(fromFile[i]).toEqual(truth(i));
  for (let i = 0; i < 6; i++) expect(fromIndex[i]).toEqual(truth(i));
  // First bitrate x duration, then with the learnt ratio.
  expect(learnt[0]![0]![0]).toBe(300e3);
  const ratios = seen.downloads.map(({ sizeBits, bitrateBps }) => sizeBits / bitrateBps);
  const last = learnt[5]![0]![0]! / 300e3;
  expect(last).not.toBe(1);
  expect(last).toBeGreaterThanOrEqual(Math.min(...ratios));
  expect(last).toBeLessThanOrEqual(Math.max(...ratios));
});
