/** The browser of the tests supports the project's media. */

import { expect, test } from '@playwright/test';

test('the browser has Media Source Extensions with H.264, VP9, AV1 and AAC', async ({ page }) => {
  await page.goto('about:blank');
  const support = await page.evaluate(() =>
    Object.fromEntries(
      [
        'video/mp4; codecs="avc1.42c01e"',
        'video/mp4; codecs="avc1.640028"',
        'video/mp4; codecs="mp4a.40.2"',
        'video/webm; codecs="vp09.00.10.08"',
        'video/mp4; codecs="av01.0.04M.08"',
      ].map((type) => [type, MediaSource.isTypeSupported(type)]),
    ),
  );
  expect(Object.entries(support).filter(([, supported]) => !supported)).toEqual([]);
});
