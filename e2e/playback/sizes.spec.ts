/** The plugin gets segment sizes from a file or an index. */

import { CHANGE } from '../builds.ts';
import { expect, test } from './playback-test.ts';

test('sizes come from sizes.json or the index of SegmentBase', CHANGE, async ({ labPage, stream }) => {
  const common = { segmentCount: 6, sizeSpread: 0.4 };
  const listed = stream(common);
  const indexed = stream({ ...common, media: { addressing: 'base' } });
  const seen = await labPage.evaluate(
    async ([listed, indexed]) => {
      // The file may arrive after the first decision, so only later decisions are checked.
      const labs = [
        window.lab.start({ manifest: `${listed}manifest.mpd`, options: { sizes: `${listed}sizes.json` } }),
        window.lab.start({ manifest: `${indexed}manifest.mpd` }),
      ];
      for (const lab of labs) await window.lab.until('all decisions', ({ decisions }) => decisions.length === 6, lab);
      const sizes = await (await fetch(`${listed}sizes.json`)).json();
      return {
        truth: Object.values(sizes.representations as Record<string, number[]>),
        sizes: labs.map(({ decisions }) => decisions.map(({ state }) => state.upcomingSizesBits)),
      };
    },
    [listed, indexed],
  );
  /** True sizes in bits from segment `from` on. */
  const truth = (from: number) =>
    Array.from({ length: 6 - from }, (_, k) => seen.truth.map((bytes) => bytes[from + k]! * 8));
  const [fromFile, fromIndex] = seen.sizes as [number[][][], number[][][]];
  for (let i = 1; i < 6; i++) expect(fromFile[i]).toEqual(truth(i));
  for (let i = 0; i < 6; i++) expect(fromIndex[i]).toEqual(truth(i));
});
