import { defineConfig } from '@playwright/test';
import { findBrowser } from './replay/browser/find-browser.ts';

const { executablePath, args, env } = await findBrowser();

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  // Players wait more than they compute: two files at a time.
  workers: 2,
  reporter: 'list',
  timeout: 60_000,
  // Beside the tests, and without the platform's name: a test that compares pictures says for which browser they are.
  snapshotPathTemplate: '{testDir}/{testFileDir}/{testFileName}-pictures/{arg}{ext}',
  use: { browserName: 'chromium', headless: true, launchOptions: { executablePath, args, env } },
});
