/** The page of `leo-abr report` loads nothing, fits phones and paper, and has no serious problem for axe. */

import { pathToFileURL } from 'node:url';
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { run, TRACE } from '../cli/shared/run.fixture.ts';
import { POSIX_LOCALE } from './posix-locale.ts';

/** Width of A4 within its margins, in CSS pixels. */
const PAPER_WIDTH = 703;

test('a report is one page for screens, phones, paper and screen readers', async ({ page, browser }, testInfo) => {
  const succeed = async (args: string[]) => expect(await run(args)).toMatchObject({ status: 0 });
  const at = (name: string) => testInfo.outputPath(name);
  const [results, live, out] = [at('results.json'), at('live.json'), at('report')];
  const algorithms = 'mpc-d,mpc-o,bola';
  const simulate = ['simulate', '--traces', TRACE, '--algorithms'];
  await succeed([...simulate, algorithms, '--scenario', 'uhd-8', '--starts', 'every:10', '--out', results]);
  await succeed([...simulate, 'mpc-d,bola', '--scenario', 'live-hd-1', '--out', live]);
  await succeed(['report', results, live, '--out', out]);

  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => asked.push(message.text()));
  const url = pathToFileURL(`${out}/index.html`).href;
  await page.goto(url);
  expect(asked).toEqual([url]);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Benchmark: uhd-8, live-hd-1');
  // Each run's verdicts and opening picture are within the first screen of a desktop.
  const opening = page.getByRole('region', { name: 'Outcome' });
  const pictures = opening.getByRole('img', { name: /^Mean QoE by algorithm/ });
  await expect(pictures).toHaveCount(2);
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const picture of await pictures.all()) await expect(picture).toBeInViewport({ ratio: 1 });

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => [colorScheme, id, nodes[0]?.html])).toEqual([]);
  }

  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await width()).toBe(390);
  await expect(opening.getByRole('listitem').first()).toBeInViewport({ ratio: 1 });
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: PAPER_WIDTH, height: 1000 });
  expect(await width()).toBe(PAPER_WIDTH);

  const inPosixLocale = await browser.newPage({ locale: POSIX_LOCALE });
  inPosixLocale.on('pageerror', (error) => asked.push(String(error)));
  expect(await inPosixLocale.evaluate(() => navigator.language)).toBe(POSIX_LOCALE);
  await inPosixLocale.goto(url);
  await expect(inPosixLocale.getByRole('img', { name: /^Mean QoE by algorithm/ })).toHaveCount(2);
  expect(asked).toEqual([url]);
  await inPosixLocale.close();
});
