/** `npm run demo:screenshot`. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { bundledSources } from './bundled-sources.js';
import { commandLine } from './command-line.js';

const WIDTH = 1280;
const HEIGHT = 800;
/** Of the animation: frames a second, width in pixels, WebP's quality, and the length in seconds. */
const ANIMATION = { framesPerSecond: 5, width: 960, quality: 75, seconds: 12 };

const { positionals, refuse } = commandLine(
  `usage: npm run demo:screenshot -- [seconds=18] [query] [file=docs/images/demo.png]

Makes the demo's image in README.md: what a visitor sees after this many seconds, without scrolling. The query is that
of the page's address, for example "?scenario=live-hd-1". A file that ends in .webp gets an animation of the last
${ANIMATION.seconds} seconds before; that needs img2webp (Debian: apt-get install webp). Use an idle machine: the players
play in real time.`,
  { positionals: 3 },
);
const [seconds = '18', query = '', file = 'docs/images/demo.png'] = positionals;
if (!(Number(seconds) > 0)) refuse(`seconds: expected a positive number, got ${seconds}`);
const isAnimation = file.endsWith('.webp');
if (isAnimation && Number(seconds) < ANIMATION.seconds) {
  refuse(`seconds: expected at least ${ANIMATION.seconds} for an animation, got ${seconds}`);
}
const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const { executablePath, args, env } = await findBrowser();

const server = await createServer({ configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)) });
await server.listen(0);
const browser = await chromium.launch({ executablePath, args, env });
try {
  const viewport = { width: WIDTH, height: HEIGHT };
  const page = await browser.newPage({ viewport, colorScheme: 'light', locale: 'en-GB' });
  await page.goto(server.resolvedUrls.local[0] + query);
  const plays = () => [...document.querySelectorAll('video')].some(({ currentTime }) => currentTime > 0);
  await page.waitForFunction(plays, undefined, { timeout: 60_000 });
  const before = isAnimation ? ANIMATION.seconds : 0;
  await page.waitForTimeout((Number(seconds) - before) * 1000);
  if (isAnimation) await animate(page);
  else await page.screenshot({ path: file });
  console.log(`${file} (${Math.round(statSync(file).size / 1000)} kB): ${page.url()}`);
  console.log(await page.locator('#story').textContent());
} finally {
  await browser.close();
  await server.close();
}

/** Records the page as the browser draws it, which disturbs the players less than screenshots. */
async function animate(page) {
  const client = await page.context().newCDPSession(page);
  const frames = [];
  client.on('Page.screencastFrame', ({ data, metadata: { timestamp }, sessionId }) => {
    void client.send('Page.screencastFrameAck', { sessionId });
    const isDue = timestamp - (frames.at(-1)?.timestamp ?? 0) >= 1 / ANIMATION.framesPerSecond;
    if (isDue) frames.push({ timestamp, data });
  });
  const { width } = ANIMATION;
  const size = { maxWidth: width, maxHeight: Math.round((width * HEIGHT) / WIDTH) };
  await client.send('Page.startScreencast', { format: 'jpeg', quality: 92, ...size });
  await page.waitForTimeout(ANIMATION.seconds * 1000);
  await client.send('Page.stopScreencast');
  const folder = mkdtempSync(join(tmpdir(), 'leo-abr-frames-'));
  try {
    const inputs = frames.flatMap(({ timestamp, data }, i) => {
      const path = join(folder, `${i}.jpg`);
      writeFileSync(path, Buffer.from(data, 'base64'));
      // The last one stays for reading.
      const next = frames[i + 1]?.timestamp ?? timestamp + 4;
      return ['-d', String(Math.round(1000 * (next - timestamp))), path];
    });
    const options = `-loop 0 -lossy -q ${ANIMATION.quality} -m 6`.split(' ');
    execFileSync('img2webp', [...options, ...inputs, '-o', file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
