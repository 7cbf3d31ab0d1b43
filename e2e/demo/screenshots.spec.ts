/**
 * Compares the parts of the demo page that do not depend on time with the pictures in screenshots.spec.ts-pictures/:
 * the page before the first request, and the views of an invented run (demo/views/recorded-run.fixture.ts).
 *
 * Pixels depend on browser and fonts. The pictures are of the Chromium and the font that npm ci installs, so the tests
 * are skipped with another browser. After an intended change: npx playwright test e2e/demo/screenshots.spec.ts
 * --update-snapshots
 */

import { dirname, join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { type FoundBrowser, findBrowser } from '../../replay/browser/find-browser.ts';
import { CHANGE } from '../builds.ts';
import { expect, openDecisions, openSettings, test } from './demo-test.ts';

const PACKAGED: FoundBrowser['source'] = '@sparticuz/chromium';
const { executablePath, args, env, source } = await findBrowser();

test.skip(
  source !== PACKAGED,
  `the pictures are of the Chromium in ${PACKAGED}; this browser is from ${source} (${executablePath})`,
);

test.use({
  // The browser uses only its own font, not the machine's.
  launchOptions: { executablePath, args, env: { ...env, FONTCONFIG_PATH: join(dirname(executablePath), 'fonts') } },
  // The bars then have no transitions.
  contextOptions: { reducedMotion: 'reduce' },
});

const WIDTHS = { wide: 1280, narrow: 390 };
type PageVariant = `${keyof typeof WIDTHS} ${'light' | 'dark'}`;
const ALL: readonly PageVariant[] = ['wide light', 'wide dark', 'narrow light', 'narrow dark'];

/** Compares each part of the page with its pictures in these variants. */
async function compare(page: Page, parts: readonly [name: string, part: Locator, variants: readonly PageVariant[]][]) {
  for (const variant of ALL) {
    const [width, colorScheme] = variant.split(' ') as [keyof typeof WIDTHS, 'light' | 'dark'];
    await page.setViewportSize({ width: WIDTHS[width], height: 900 });
    await page.emulateMedia({ colorScheme });
    for (const [name, part, variants] of parts) {
      if (!variants.includes(variant)) continue;
      // A missing icon has more pixels.
      const options = { maxDiffPixels: 30 };
      await expect.soft(part).toHaveScreenshot(`${name} ${variant}.png`.replaceAll(' ', '-'), options);
    }
  }
}

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('before the first request', CHANGE, async ({ page, open }) => {
  // A manifest that never comes stops the players and their clocks.
  await page.route('**/manifest.mpd', () => {});
  await open('?players=dynamic,mpc-l&trace=driving-motorway&scenario=hd-16&start=30');
  await openDecisions(page);
  await expect(page.getByRole('region', { name: 'Decisions of leo-abr' })).toContainText('No decision yet.');
  await openSettings(page);
  await compare(page, [
    ['head', page.locator('.page-head'), ['wide light', 'narrow dark']],
    ['controls', page.locator('#controls'), ALL],
    ['players', page.locator('#players'), ['wide dark', 'narrow light']],
    ['link', region(page, 'Timeline'), ['wide light', 'narrow dark']],
  ]);
});

test('a finished run', CHANGE, async ({ page, open }) => {
  await page.route('**/main.ts', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: "import '/views/recorded-run.fixture.ts';" }),
  );
  await open();
  await openDecisions(page);
  await page.getByRole('slider', { name: 'Moment to read' }).fill('55');
  await compare(page, [
    ['timeline', region(page, 'Timeline'), ['wide dark', 'narrow light']],
    ['decisions', page.locator('#decisions'), ['wide light']],
  ]);
});
