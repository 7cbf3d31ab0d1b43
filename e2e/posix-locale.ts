/** The language of Chromium that is started with `LANG=C.UTF-8`, which is not a valid language tag: `Intl` rejects it. */

import { expect, type Page } from '@playwright/test';

export const POSIX_LOCALE = 'en-US@posix';

/** Call it on an empty page: a page may replace its language for itself. */
export async function expectPosixLocale(page: Page): Promise<void> {
  expect(await page.evaluate(() => [location.href, navigator.language])).toEqual(['about:blank', POSIX_LOCALE]);
}
