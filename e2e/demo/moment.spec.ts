/** The first scene of the demo page: what a visitor sees in twenty seconds, without a click or a scroll. */

import type { Page } from '@playwright/test';
import { SCENES } from '../../demo/choice/scenes.ts';
import { expect, expectNoAxeViolations, test } from './demo-test.ts';

/** By when the moment is over and told. */
const TOLD_MS = 20_000;
/** A shorter standstill of the playhead between two samples is jitter. */
const LEAST_STALL_SECONDS = 0.1;
/** A host that stands still in one attempt spoils it, but hardly all of them. */
const ATTEMPTS_MS = 300_000;

interface Playhead {
  atSeconds: number;
  positionSeconds: number;
  rate: number;
}

/** Samples the playheads of all players until the page tells of the moment, in order of the lanes. */
function playheads(page: Page): Promise<Playhead[][]> {
  return page.evaluate(async (milliseconds) => {
    const videos = [...document.querySelectorAll('video')];
    const rows: Playhead[][] = videos.map(() => []);
    const begin = performance.now();
    const story = document.querySelector('#story')!;
    while (performance.now() - begin < milliseconds && !story.textContent!.startsWith('At ')) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      const atSeconds = (performance.now() - begin) / 1000;
      for (const [i, video] of videos.entries()) {
        rows[i]!.push({ atSeconds, positionSeconds: video.currentTime, rate: video.playbackRate });
      }
    }
    return rows;
  }, TOLD_MS);
}

/** When the playhead stood still, from the second sample on, and for how long at most. */
function standstills(samples: readonly Playhead[]): { atSeconds: number; seconds: number }[] {
  const found: { atSeconds: number; seconds: number }[] = [];
  let last = samples[0]!;
  for (const [i, sample] of samples.entries()) {
    if (sample.positionSeconds > last.positionSeconds) last = sample;
    else if (sample.atSeconds - last.atSeconds >= LEAST_STALL_SECONDS) {
      const seconds = sample.atSeconds - last.atSeconds;
      if (found.at(-1)?.atSeconds === last.atSeconds) found.at(-1)!.seconds = seconds;
      else if (i > 0) found.push({ atSeconds: last.atSeconds, seconds });
    }
  }
  return found;
}

test('MPC-L plays slower ahead of the handover, the other one stalls, and the page says so', async ({ open, page }) => {
  test.setTimeout(ATTEMPTS_MS + 60_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(async () => {
    await open();
    await expect(page.locator('video')).toHaveCount(2);
    await expect(page.getByRole('button', { name: SCENES[0]!.title })).toHaveAttribute('aria-pressed', 'true');
    const [other, own] = (await playheads(page)) as [Playhead[], Playhead[]];
    const story = page.locator('#story');
    await expect(story).toHaveText(
      /^At 0:\d\d the link moved to another satellite: MPC-L had expected it, played \d\s% slower from \d+\ss before and /,
    );
    await expect(story).toContainText(/dash\.js Dynamic stood still for 0\.[2-9]\d\ss\.$/);
    // The order of events, as the pictures have it: slower, then the handover, in whose dip only the other one stalls.
    const stall = standstills(other).at(-1)!;
    const slower = own.find(({ rate, atSeconds }) => rate < 1 && atSeconds > 0)!;
    expect(slower.atSeconds).toBeLessThan(stall.atSeconds - 1);
    const inDip = ({ atSeconds }: { atSeconds: number }) => Math.abs(atSeconds - stall.atSeconds) < 2;
    const lost = (of: readonly Playhead[]) =>
      standstills(of).reduce((sum, one) => sum + (inDip(one) ? one.seconds : 0), 0);
    expect(lost(own)).toBeLessThan(lost(other));
    // The score of this moment. A page that stands still stalls all lanes, and then any of them may lead.
    const stoodStill = own.some(({ atSeconds }, i) => i > 0 && atSeconds - own[i - 1]!.atSeconds > 0.5);
    const lane = stoodStill ? page.getByRole('article') : page.getByRole('article', { name: 'MPC-L' });
    await expect(lane.locator('.lead:visible')).toHaveText(/^ahead by /, { timeout: 8000 });
  }).toPass({ timeout: ATTEMPTS_MS });

  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    // Without scrolling: the sentence, the scores, and the marks of the handover and the stall.
    const seen = [page.locator('#story'), page.getByText('QoE so far').first(), page.locator('.lane .u-over').nth(1)];
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

  await page.getByRole('button', { name: 'Add player' }).click();
  await expect(page.getByRole('article')).toHaveCount(3);
  await expect(page.getByRole('article').nth(2)).toHaveAccessibleName(/MPC-D$/);
});
