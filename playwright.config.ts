import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { ENGINES, isOld, whatIsMissing } from './e2e/engines/index.ts';
import type { WorkerFixtures } from './e2e/playback/playback-test.ts';
import { findBrowser } from './replay/browser/find-browser.ts';

// Workers also read this file. They share the builds of the plugin.
const isWorker = process.env['TEST_WORKER_INDEX'] !== undefined;
if (!isWorker) {
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-builds-'));
  process.env['LEO_ABR_BUILDS'] = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
}

const { executablePath, args, env } = await findBrowser();

// Node 20 has WebSocket only with this switch.
process.env['NODE_OPTIONS'] =
  `${process.env['NODE_OPTIONS'] ?? ''} --experimental-websocket --disable-warning=ExperimentalWarning`;

const engines = ENGINES.flatMap((engine) => {
  const missing = whatIsMissing(engine);
  if (missing === undefined)
    return [
      {
        name: `engine-${engine}`,
        grep: /@core/,
        ...(engine === 'webkit' && { grepInvert: /@catch-up/ }),
        ...(isOld(engine) && { grepInvert: /@modern/, testMatch: 'playback/*.spec.ts' }),
        // Other engines start and decode more slowly.
        timeout: 120_000,
        use: { engine },
      },
    ];
  if (process.env['LEO_ABR_ENGINES'] === 'all') throw new Error(missing);
  if (!isWorker) process.stderr.write(`Not tested: ${missing}\n`);
  return [];
});

const TOOLS = ['benchmark.spec.ts', 'demo/*.spec.ts', 'package/*.spec.ts'];
const ZOO = 'zoo/*.spec.ts';
const EXAMPLES = 'examples/*.spec.ts';

export default defineConfig<object, WorkerFixtures>({
  testDir: 'e2e',
  // Players wait more than they compute, so more files than cores run at a time.
  workers: availableParallelism() + 1,
  // The parts of `npm run test:all` (scripts/test-totals.js).
  projects: [
    // These files compute more than they wait, so one runs beside two of the others, which take longer. Two servers of
    // the demo would also share Vite's cache.
    { name: 'tools', testMatch: TOOLS, workers: 1 },
    { name: 'plugin', testIgnore: [...TOOLS, ZOO, EXAMPLES] },
    // A page plays a dozen streams at a time. Two such pages leave too little of a small host to each.
    { name: 'zoo', testMatch: ZOO, workers: 1 },
    { name: 'examples', testMatch: EXAMPLES, workers: 2 },
    ...engines,
  ],
  reporter: 'list',
  timeout: 60_000,
  // On a busy host a page may do nothing for longer than the default of 5 s.
  expect: { timeout: 20_000 },
  // Pictures are beside the tests, without the platform's name, because their test names the browser.
  snapshotPathTemplate: '{testDir}/{testFileDir}/{testFileName}-pictures/{arg}{ext}',
  use: { browserName: 'chromium', headless: true, launchOptions: { executablePath, args, env } },
});
