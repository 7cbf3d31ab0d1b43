/** `npm run demo:screenshot`. */
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run demo:screenshot -- [seconds=100] [query] [file=docs/images/demo.png]

Makes the demo's image in README.md, after this many seconds of playback. The query is that of the page's address, for
example "?scenario=live-hd-1".`,
  { positionals: 3 },
);
const [seconds = '100', query = '', file = 'docs/images/demo.png'] = positionals;
if (!(Number(seconds) > 0)) refuse(`seconds: expected a positive number, got ${seconds}`);
const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { executablePath, args, env } = await findBrowser();

const server = await createServer({ configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)) });
await server.listen(0);
const browser = await chromium.launch({ executablePath, args, env });
try {
  const viewport = { width: 1280, height: 1330 };
  const page = await browser.newPage({ viewport, colorScheme: 'light', locale: 'en-GB' });
  await page.goto(server.resolvedUrls.local[0] + query);
  const hasPlayed = (least) => document.querySelector('video')?.currentTime > least;
  await page.waitForFunction(hasPlayed, Number(seconds), { timeout: 4 * 60_000 });
  // From the top to the end of the timeline.
  const { height } = await page.evaluate(() => {
    const timeline = document.querySelector('#lanes').closest('section').getBoundingClientRect();
    return { height: Math.ceil(timeline.bottom + window.scrollY + 14) };
  });
  await page.screenshot({ path: file, fullPage: true, clip: { x: 0, y: 0, width: 1280, height } });
  console.log(`${file}: ${page.url()}`);
} finally {
  await browser.close();
  await server.close();
}
