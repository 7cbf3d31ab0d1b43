/** Finds a Chromium: `CHROME_PATH`, Playwright's, the system's, the npm package `@sparticuz/chromium`. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

export type FoundBrowser = Awaited<ReturnType<typeof findBrowser>>;
type Source = 'CHROME_PATH' | 'playwright' | 'system' | '@sparticuz/chromium';

type Env = Record<string, string>;

export class BrowserNotFoundError extends Error {
  override readonly name = 'BrowserNotFoundError';
}

/** Chromium without background traffic and with autoplay. Root cannot use the sandbox. */
const ARGUMENTS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  '--no-default-browser-check',
  '--autoplay-policy=no-user-gesture-required',
  // Several pages play at the same time, but only one is in the foreground.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-gpu',
  // Containers often have a /dev/shm of 64 MB.
  '--disable-dev-shm-usage',
  '--mute-audio',
];

/** The first use of `@sparticuz/chromium` unpacks it (3 s, 200 MB). @throws {BrowserNotFoundError} */
export async function findBrowser({ env = process.env }: { env?: NodeJS.ProcessEnv } = {}) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Env;
  const found = (source: Source, executablePath: string, own: Env = {}) => {
    return { source, executablePath, args: ARGUMENTS, env: { ...given, ...own } };
  };
  const { CHROME_PATH: chosen, PATH: searchPath = '' } = given;
  if (chosen) {
    if (isExecutable(chosen)) return found('CHROME_PATH', chosen);
    throw new BrowserNotFoundError(`CHROME_PATH: expected an executable file, got "${chosen}"`);
  }
  const playwrights = await playwrightBrowser();
  if (playwrights) return found('playwright', playwrights);
  const system = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
    .flatMap((name) => searchPath.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => isExecutable(path) && printsVersion(path));
  if (system) return found('system', system);
  const home = packagedBrowser();
  if (home) {
    const { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: fonts } = given;
    return found('@sparticuz/chromium', join(home, 'chromium'), {
      LD_LIBRARY_PATH: [join(home, 'lib'), ...(libraries ? [libraries] : [])].join(delimiter),
      ...(!fonts && !existsSync('/etc/fonts') && { FONTCONFIG_PATH: join(home, 'fonts') }),
    });
  }
  throw new BrowserNotFoundError(
    'no browser found: install Chromium (`apt-get install chromium`, or `npx playwright install chromium`), ' +
      'or set CHROME_PATH to a Chrome or Chromium executable',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** False for a stub that only refers to a store (Ubuntu's `chromium-browser`). */
function printsVersion(path: string): boolean {
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}

async function playwrightBrowser(): Promise<string | undefined> {
  const { chromium } = await import('playwright-core');
  try {
    const path = chromium.executablePath();
    return isExecutable(path) ? path : undefined;
  } catch {
    return undefined; // no build for this platform
  }
}

/** Replaces the package's configuration, which names folders of AWS Lambda: no text would be visible with it. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

/** The folder of `@sparticuz/chromium` (Linux on x64), unpacked with its libraries into `node_modules/.cache`. */
function packagedBrowser(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folders = createRequire(import.meta.url).resolve.paths('@sparticuz/chromium') ?? [];
  const modules = folders.find((folder) => existsSync(join(folder, '@sparticuz/chromium/bin/chromium.br')));
  if (modules === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(join(modules, '@sparticuz/chromium/package.json'), 'utf8'));
  const home = join(modules, '.cache', 'leo-abr', `chromium-${version}`);
  if (existsSync(home)) return home;
  const unpacked = (name: string) =>
    brotliDecompressSync(readFileSync(join(modules, '@sparticuz/chromium/bin', `${name}.br`)));
  mkdirSync(dirname(home), { recursive: true });
  // Unpack beside `home` and rename, so that `home` is always complete, even with several processes at once.
  const beside = mkdtempSync(`${home}.`);
  try {
    writeFileSync(join(beside, 'chromium'), unpacked('chromium'), { mode: 0o755 });
    mkdirSync(join(beside, 'fonts'));
    for (const [name, folder] of [
      ['al2023.tar', beside],
      ['fonts.tar', join(beside, 'fonts')],
    ] as const) {
      const input = unpacked(name);
      execFileSync('tar', ['-xof', '-', '-C', folder], { input, stdio: ['pipe', 'ignore', 'pipe'] });
    }
    writeFileSync(join(beside, 'fonts', 'fonts.conf'), FONTS_CONF);
    renameSync(beside, home);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(home)) throw error;
  }
  return home;
}
