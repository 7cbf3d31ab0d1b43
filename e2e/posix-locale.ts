/** Chromium has this language under `LANG=C.UTF-8`. It is no valid language tag, so `Intl` rejects it. */

import { expect, type Page } from '@playwright/test';

export const POSIX_LOCALE = 'en-US@posix';

/** Checks an empty page, because a page may replace its language for itself. */
export async function expectPosixLocale(page: Page): Promise<void> {
  expect(await page.evaluate(() => [location.href, navigator.language])).toEqual(['about:blank', POSIX_LOCALE]);
}
