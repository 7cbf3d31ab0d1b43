import { defineConfig } from '@playwright/test';

export default defineConfig({ testDir: 'e2e', testMatch: '**/*.spec.ts', workers: 1, reporter: 'list' });
