/** The server of `npm start` and a page without errors, for the tests of the demo page. */

import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { test as base, type ConsoleMessage, expect, type Page } from '@playwright/test';
import { ROOT } from '../builds.ts';
import { startProgram } from '../engines/engine.ts';

export { expect };

/** Starts the server of `npm start`, on this port or a free one, and waits until it prints its address. */
export async function startDemo(port = 0, variables: Record<string, string> = {}) {
  const flags = `--port ${port} --strictPort --clearScreen false`.split(' ');
  const vite = startProgram(process.execPath, [join(ROOT, 'node_modules/vite/bin/vite.js'), ...flags], {
    cwd: ROOT,
    env: { ...variables, NO_COLOR: '1', FORCE_COLOR: undefined },
  });
  const url = await vite.match(/Local:\s+(http:\S+)/);
  return { url, port: Number(new URL(url).port), stop: () => vite.end() };
}

interface DemoFixtures {
  /** Opens the page with a query; errors in its console fail the test. */
  open(query?: string): Promise<Page>;
}

export const test = base.extend<DemoFixtures, { demo: Awaited<ReturnType<typeof startDemo>> }>({
  demo: [
    async ({}, use) => {
      const demo = await startDemo();
      await use(demo);
      await demo.stop();
    },
    { scope: 'worker' },
  ],

  open: async ({ demo, page }, use) => {
    const errors: string[] = [];
    page.on('console', (message: ConsoleMessage) => {
      // The browser logs an error if the origin refuses a trace.
      if (message.type() === 'error' && !message.location().url.endsWith('/traces')) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
    await use(async (query = '') => {
      await page.goto(`${demo.url}${query}`);
      return page;
    });
    expect(errors, 'errors in the console').toEqual([]);
  },
});

export async function untilPlayed(page: Page, seconds: number): Promise<void> {
  await page.waitForFunction(
    (least) => {
      const videos = [...document.querySelectorAll('video')];
      return videos.length > 0 && videos.every((video) => video.currentTime >= least);
    },
    seconds,
    { timeout: 30_000 },
  );
}

/** Looks at the page at both sizes: wide and dark, narrow and light. It must not scroll sideways, and axe finds nothing. */
export async function atBothSizes(page: Page, look: (height: number) => Promise<void>): Promise<void> {
  for (const [width, height, colorScheme] of [
    [1280, 800, 'dark'],
    [390, 844, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await look(height);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await expectNoAxeViolations(page);
  }
}

export const openSettings = (page: Page) => page.getByText('Settings', { exact: true }).click();

export const openDecisions = (page: Page) => page.getByText('What each player decided, and why').click();

export async function expectNoAxeViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
}
