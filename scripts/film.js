/** `npm run film`: films the demo's first scene for README. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { bundledSources } from './bundled-sources.js';
import { commandLine, ROOT } from './command-line.js';

commandLine(`usage: npm run film

Films the first scene of the built demo (npm run build) for 25 s, two pictures a second, and writes docs/images/demo.webp
with ffmpeg (FFMPEG=<path>; it needs libwebp). Prints the scene's sentence. The machine must be idle: load freezes players.`);

const PERIOD_MS = 500;
const PICTURES = 50;
const folder = mkdtempSync(join(tmpdir(), 'leo-abr-film-'));
const demo = spawn(process.execPath, [join(ROOT, 'cli/bin/leo-abr.js'), 'serve-demo', '--port', '0']);
const { findBrowser } = await bundledSources('replay/browser/find-browser.ts');
const url = new Promise((resolve) => demo.stderr.on('data', (text) => resolve(/http:\S+/.exec(text)?.[0])));
const browser = await chromium.launch(await findBrowser());
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 768 }, deviceScaleFactor: 0.8 });
  await page.goto(await url);
  await page.waitForFunction(() => [...document.querySelectorAll('video')].some(({ currentTime }) => currentTime > 0));
  const beginMs = performance.now();
  for (let i = 0; i < PICTURES; i++) {
    await sleep(Math.max(0, beginMs + i * PERIOD_MS - performance.now()));
    await page.screenshot({ path: join(folder, `${i}.png`) });
  }
  console.log(await page.locator('#story').textContent());
  const input = ['-framerate', String(1000 / PERIOD_MS), '-i', join(folder, '%d.png')];
  const encoding = ['-c:v', 'libwebp_anim', '-quality', '40', '-compression_level', '6', '-loop', '0'];
  const output = join(ROOT, 'docs/images/demo.webp');
  const args = ['-v', 'error', '-y', ...input, ...encoding, output];
  const { status } = spawnSync(process.env.FFMPEG ?? 'ffmpeg', args, { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  await browser.close();
  demo.kill();
  rmSync(folder, { recursive: true });
}
