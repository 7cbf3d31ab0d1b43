import { defineConfig } from '@playwright/test';
import { findBrowser } from './replay/browser/find-browser.ts';

const { executablePath, args, env } = await findBrowser();

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  // Playback is timed: one test at a time.
  workers: 1,
  reporter: 'list',
  timeout: 60_000,
  use: { browserName: 'chromium', headless: true, launchOptions: { executablePath, args, env } },
});
