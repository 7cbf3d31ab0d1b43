import { defineConfig } from '@playwright/test';
import { findBrowser } from './replay/browser/find-browser.ts';

const { executablePath, args, env } = await findBrowser();

export default defineConfig({
  testDir: 'e2e',
  // Players wait more than they compute: two files at a time. Two servers of the demo would share Vite's cache.
  workers: 2,
  projects: [
    { name: 'demo', testMatch: 'demo/**/*.spec.ts', workers: 1 },
    { name: 'plugin', testIgnore: 'demo/**' },
  ],
  reporter: 'list',
  timeout: 60_000,
  // Beside the tests, and without the platform's name: a test that compares pictures says for which browser they are.
  snapshotPathTemplate: '{testDir}/{testFileDir}/{testFileName}-pictures/{arg}{ext}',
  use: { browserName: 'chromium', headless: true, launchOptions: { executablePath, args, env } },
});
