/** The first scene of the demo page: what a visitor sees in a minute, without a click or a scroll. */

import type { Page } from '@playwright/test';
import { SCENES } from '../../demo/choice/scenes.ts';
import { expect, expectNoAxeViolations, test } from './demo-test.ts';

/** A pause of the host spoils one attempt, but hardly each of them. */
const ATTEMPTS_MS = 400_000;
const MINUTE_MS = 90_000;
/** The page counts freezes in the playheads; a test that samples them less often sees fewer and longer ones. */
const LEAST_FROZEN_SECONDS = 0.05;

interface Reading {
  seconds: number;
  /** Frozen time by the page, and the places of the lanes that are ahead. */
  frozen: number[];
  ahead: number[];
  /** Longest time between two samples of this test so far: more than usual means that the page paused. */
  gapSeconds: number;
  /** Samples in which a picture did not move although it had begun, in seconds. */
  still: number[];
}

/** Reads the page when its sentence says that `at` seconds have passed. */
function readings(page: Page, at: readonly number[]): Promise<Reading[]> {
  return page.evaluate(
    async ([at, least]) => {
      const videos = [...document.querySelectorAll('video')];
      const lanes = [...document.querySelectorAll('article')];
      const last = videos.map(() => ({ position: 0, atMs: performance.now() }));
      const still = videos.map(() => 0);
      const found: Reading[] = [];
      let [gapSeconds, before] = [0, performance.now()];
      while (found.length < at.length) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        const now = performance.now();
        gapSeconds = Math.max(gapSeconds, (now - before) / 1000);
        before = now;
        for (const [i, { currentTime }] of videos.entries()) {
          const known = last[i]!;
          if (currentTime === known.position) continue;
          const seconds = (now - known.atMs) / 1000;
          if (known.position > 0 && seconds > least) still[i]! += seconds;
          last[i] = { position: currentTime, atMs: now };
        }
        const seconds = Number(/^In (\d+)/.exec(document.querySelector('#story')!.textContent!)?.[1] ?? 0);
        if (seconds < at[found.length]!) continue;
        const frozen = lanes.map((lane) => Number.parseFloat(lane.querySelector('dd')!.textContent!) || 0);
        const ahead = lanes.flatMap((lane, i) => (lane.querySelector<HTMLElement>('.lead')!.hidden ? [] : [i]));
        found.push({ seconds, frozen, ahead, gapSeconds, still: [...still] });
      }
      return found;
    },
    [at, LEAST_FROZEN_SECONDS] as const,
  );
}

test('the player’s own rule freezes, leo-abr hardly does, and is ahead after 20 s and after 60 s', async ({
  open,
  page,
}) => {
  test.setTimeout(ATTEMPTS_MS + 60_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  const [OTHER, OWN] = [0, 1];
  await expect(async () => {
    await open();
    await expect(page.locator('video')).toHaveCount(2);
    await expect(page.getByRole('button', { name: SCENES[0]!.title, exact: true })).toHaveAttribute(
      'aria-pressed',
      'true',
    );
    await expect(page.locator('#news')).toHaveText(SCENES[0]!.about);
    page.setDefaultTimeout(MINUTE_MS);
    const [early, late] = await readings(page, [20, 60]);
    for (const { frozen, ahead, still, gapSeconds } of [early!, late!]) {
      expect(ahead).toEqual([OWN]);
      // If the page pauses, all pictures freeze.
      expect(frozen[OTHER]! - frozen[OWN]!).toBeGreaterThan(0.1);
      expect(frozen[OWN]).toBeLessThan(0.5 + gapSeconds);
      // The pictures themselves show it, too.
      expect(still[OTHER]).toBeGreaterThan(still[OWN]!);
    }
    expect(late!.frozen[OTHER]).toBeGreaterThanOrEqual(early!.frozen[OTHER]!);
    await expect(page.locator('#story')).toHaveText(
      /^In \d+\ss dash\.js alone froze \d+ times, for [\d.]+\ss in all; leo-abr (never froze|froze .*)\. Picture quality: \d+ and \d+ of 100\.$/,
    );
  }).toPass({ timeout: ATTEMPTS_MS });

  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    // Without scrolling: the sentence, both bars of each lane, and the red marks of the freezes.
    const seen = [page.locator('#story'), page.locator('.bar.quality').last(), page.locator('.lane .u-over').first()];
    for (const part of seen) {
      const box = (await part.boundingBox())!;
      expect(box.y).toBeGreaterThanOrEqual(0);
      expect(box.y + box.height).toBeLessThanOrEqual(height);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expectNoAxeViolations(page);
    }
  }
});
