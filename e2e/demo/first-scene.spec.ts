/** The first scene of the demo page: what a visitor sees soon, without a click or a scroll. */

import { SCENES } from '../../demo/choice/scenes.ts';
import { CHANGE, TIMING } from '../builds.ts';
import { atBothSizes, expect, test } from './demo-test.ts';

test('the player’s own rule freezes, leo-abr hardly, and is ahead after 20 s', {
  tag: [CHANGE.tag, TIMING.tag],
}, async ({ open, page }) => {
  test.setTimeout(150_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  const [OTHER, OWN] = [0, 1];
  await open();
  await expect(page.locator('video')).toHaveCount(2);
  const scene = page.getByRole('button', { name: SCENES[0]!.title, exact: true });
  await expect(scene).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('#news')).toHaveText(SCENES[0]!.about);
  await expect(page.locator('#story')).toHaveText(/^In [2-9]\d\s/, { timeout: 90_000 });
  const { frozen, ahead } = await page.locator('article').evaluateAll((lanes) => ({
    frozen: lanes.map((lane) => Number.parseFloat(lane.querySelector('dd')!.textContent!) || 0),
    ahead: lanes.flatMap((lane, i) => (lane.querySelector<HTMLElement>('.lead')!.hidden ? [] : [i])),
  }));
  expect(ahead).toEqual([OWN]);
  expect(frozen[OTHER]! - frozen[OWN]!).toBeGreaterThan(0.1);
  // A busy host freezes both.
  expect(frozen[OWN]).toBeLessThan(Math.max(0.8, frozen[OTHER]! / 2));
  await expect(page.locator('#story')).toHaveText(
    /^In \d+\ss leo‑abr (never froze|froze .*); dash\.js alone froze for [\d.]+\ss\. leo‑abr’s picture is (as good|better|worse) \(\d+ and \d+ of 100\), with \d+\s% less data\.$/,
  );

  await atBothSizes(page, async (height) => {
    // The sentence, both bars of each lane and the red marks of the freezes are visible without scrolling.
    const seen = [page.locator('#story'), page.locator('.bar.data').last(), page.locator('.lane .u-over').first()];
    for (const part of seen) {
      // For another colour scheme the page draws its charts anew.
      await expect(async () => {
        const box = (await part.boundingBox())!;
        expect(box.y).toBeGreaterThanOrEqual(0);
        expect(box.y + box.height).toBeLessThanOrEqual(height);
      }).toPass({ timeout: 10_000 });
    }
  });
});
