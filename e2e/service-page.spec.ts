/** The page of the prediction service is live, fits phones and screen readers, and asks only the service. */

import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { type RunningService, type ServiceOptions, startService, syntheticDish } from '../service/index.ts';
import { CHANGE } from './builds.ts';

const test = base.extend<{ start(options?: Partial<ServiceOptions>): Promise<RunningService> }>({
  start: async ({}, use) => {
    const running: RunningService[] = [];
    await use(async (options) => {
      const service = await startService({ version: '1.2.3', port: 0, ...options });
      running.push(service);
      return service;
    });
    for (const service of running) await service.close();
  },
});

/** Reports 40 Mbit/s as a player would, until the returned function is called. */
function play(url: string): () => void {
  let fromMs = Date.now();
  const timer = setInterval(async () => {
    const endMs = Date.now();
    const observations = [{ kind: 'throughput', startMs: fromMs, endMs, bits: 4e4 * (endMs - fromMs) }];
    fromMs = endMs;
    const body = JSON.stringify({ player: 'tv', observations });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    await fetch(`${url}/v1/observations`, init).catch(() => {});
  }, 500);
  return () => clearInterval(timer);
}

const NO_DISH = 'No dish is configured. No player reports.';
const headline = (page: Page) => page.locator('#headline');
const card = (page: Page, name: string) => page.getByRole('region', { name });
const problems = (page: Page) => page.getByRole('status', { name: 'Problems' });

/** Share of the chart's past that a line covers, with its gaps. */
function spanOf(page: Page, line: 'usage' | 'expected'): Promise<number> {
  return page.evaluate((name) => {
    const path = document.querySelector(`#chart path.${name}`)!.getAttribute('d')!;
    const xs = [...path.matchAll(/[ML]([\d.]+)/g)].map(([, x]) => Number(x));
    const now = document.querySelector<SVGLineElement>('#chart .now')!.x1.baseVal.value;
    return (Math.max(...xs) - Math.min(...xs)) / (now - 34);
  }, line);
}

/** Contrast (WCAG 2) of a legend's colour on its panel. It is 0 for an element without full opacity. */
function legendContrast(page: Page, name: string): Promise<number> {
  return page.evaluate((key) => {
    const luminance = (colour: string) => {
      const [r = 0, g = 0, b = 0] = colour.match(/[\d.]+/g)!.map((part) => {
        const value = Number(part) / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const mark = document.querySelector(`.legend .${key}`)!;
    const { borderTopColor, opacity } = getComputedStyle(mark);
    if (opacity !== '1') return 0;
    const panel = getComputedStyle(mark.closest('.card')!).backgroundColor;
    const [low = 0, high = 0] = [luminance(borderTopColor), luminance(panel)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }, name);
}

/** axe finds nothing, light or dark, and no width needs sideways scrolling. */
async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    for (const name of ['usage', 'expected', 'handover', 'fan', 'outage', 'obstructed', 'observed']) {
      expect(await legendContrast(page, name), `${colorScheme} ${name}`).toBeGreaterThanOrEqual(3);
    }
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [colorScheme, id, nodes[0]?.html])).toEqual([]);
  }
}

test('shows dish, forecast, handovers and players live, and follows a lost service', async ({ page, start }) => {
  test.setTimeout(120_000);
  const running = await start({ dish: syntheticDish({ seed: 1 }) });
  const { service, url } = running;
  const hosts = new Set<string>();
  const errors: string[] = [];
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => errors.push(message.text()));
  await page.goto(url);

  // The first picture of a later page has the minute before and the forecast.
  const recordedSeconds = () => {
    const { expectedCapacity } = service.history();
    return ((expectedCapacity.at(-1)?.atMs ?? 0) - (expectedCapacity[0]?.atMs ?? 0)) / 1000;
  };
  await expect.poll(recordedSeconds, { timeout: 60_000 }).toBeGreaterThan(9);
  const later = await page.context().newPage();
  await later.goto(url);
  await expect(headline(later)).toHaveText(/^The dish is online\. No player reports\./);
  await expect(later.locator('#simulated')).toHaveText(
    /^\s*Simulated: this dish, its link and its household do not exist\./,
  );
  await expect(card(later, 'Link')).toContainText(/Expected capacity: \d+ Mbit\/s/);
  // The page cannot have seen this live, because it has been open for less time.
  await expect.poll(() => spanOf(later, 'usage'), { timeout: 4000 }).toBeGreaterThan(0.9);
  await expect.poll(() => spanOf(later, 'expected'), { timeout: 4000 }).toBeGreaterThan(0.12);
  await expect(card(later, 'Players')).toContainText(`createServiceForecaster('${url}')`);
  await later.close();

  const stop = play(url);
  try {
    const live = /^The dish is online\. 1 player\. Next handover in \d+ s\.$/;
    await expect(headline(page)).toHaveText(live, { timeout: 40_000 });
    await expect(card(page, 'Link')).toContainText('forecast, 10 to 90 % and 25 to 75 %');
    await expect(page.locator('#chart .fan')).toHaveCount(2);
    await expect(page.locator('#chart .handover')).toHaveCount(5);
    // The dish's history has the quarter of an hour before the start.
    await expect.poll(() => page.locator('#hour .observed').count()).toBeGreaterThan(14);
    await expect(card(page, 'Last hour')).toContainText(/\d+ observed minutes/);
    await expect.poll(() => spanOf(page, 'usage')).toBeGreaterThan(0.9);
    await expect(card(page, 'Players').getByRole('row')).toHaveText(['PlayerShareState', /^1100 %downloading/]);
    await expect(card(page, 'Dish')).toContainText(/Ping\d+ ms/);
    await expect(card(page, 'Recordings')).toContainText('start the service with --record');
    const countdown = await headline(page).textContent();
    await expect(headline(page)).not.toHaveText(countdown!);
    await expect(problems(page)).toBeEmpty();
    await expectAccessible(page);
    expect([...hosts]).toEqual([new URL(url).host]);
    expect(errors).toEqual([]);
  } finally {
    stop();
  }
  await running.close();
  const lost = /^The service does not answer: no connection\. Everything below is \d+ s old/;
  await expect(headline(page)).toHaveText(lost);
  await start({ port: running.port });
  await expect(headline(page)).toHaveText(NO_DISH);
});

test('asks for the token, and names a problem and what to do', CHANGE, async ({ page, start }) => {
  const token = 'a-long-secret-of-ours';
  const { url } = await start({ token, dish: '127.0.0.1:1' });
  await page.goto(url);
  await expect(headline(page)).toHaveText('The service needs its token.');
  const field = page.getByLabel('Token of the service');
  await field.fill('another');
  await field.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('The service does not accept this token.');
  await expectAccessible(page);
  await field.fill(token);
  await field.press('Enter');
  const silent = 'The dish does not answer. No player reports.';
  await expect(headline(page)).toHaveText(silent);
  await expect(field).toBeHidden();
  await expect(problems(page).locator('p')).toHaveText([/^Dish: 127\.0\.0\.1:1: nothing answers there/]);
  await expect(page.locator('#simulated')).toBeHidden();
  await page.reload();
  await expect(headline(page)).toHaveText(silent);
});

test('needs two round trips for its first picture, and little', CHANGE, async ({ page, start }) => {
  const { url } = await start();
  const requests: string[] = [];
  let bytes = 0;
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  page.on('response', async (response) => {
    bytes += (await response.body().catch(() => '')).length;
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(url);
  await expect(headline(page)).toHaveText(NO_DISH);
  // The requests are the document, then styles and scripts, then the service's data.
  expect([...new Set(requests)].sort()).toEqual([
    ...['/', '/page/chart.js', '/page/page.css', '/page/page.js', '/page/texts.js', '/page/theme.css'],
    ...['/v1/forecast', '/v1/handovers', '/v1/history', '/v1/state'],
  ]);
  expect(bytes).toBeLessThan(60_000);
});
