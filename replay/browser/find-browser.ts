/**
 * Finds a Chromium for the benchmark and the browser tests, in this order: `CHROME_PATH`, Playwright's own, the
 * system's chromium or chrome, the one of the npm package `@sparticuz/chromium` (so `npm ci` suffices).
 */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';

export interface FoundBrowser {
  executablePath: string;
  /** Switches for every run; add your own behind them. */
  args: string[];
  /** The complete environment of the browser. */
  env: Record<string, string>;
  source: 'CHROME_PATH' | 'playwright' | 'system' | '@sparticuz/chromium';
}

/** No usable browser; the message says what to install. */
export class BrowserNotFoundError extends Error {
  override readonly name = 'BrowserNotFoundError';
}

/**
 * The browser to use. Unpacks `@sparticuz/chromium` at its first use (about 3 s, 200 MB in the cache).
 * @throws {BrowserNotFoundError} if there is none, or if `CHROME_PATH` is not executable.
 */
export async function findBrowser({ env = process.env }: { env?: NodeJS.ProcessEnv } = {}): Promise<FoundBrowser> {
  const found = (source: FoundBrowser['source'], executablePath: string, libraries?: LibraryPaths): FoundBrowser => ({
    source,
    executablePath,
    args: browserArguments(),
    env: environmentFor(env, libraries),
  });

  const { CHROME_PATH: chosen, PATH: searchPath } = env;
  if (chosen) {
    if (!isExecutable(chosen)) {
      throw new BrowserNotFoundError(`CHROME_PATH: expected an executable file, got "${chosen}"`);
    }
    return found('CHROME_PATH', chosen);
  }
  const playwrights = await playwrightBrowser();
  if (playwrights) return found('playwright', playwrights);
  const system = systemCandidates(env, searchPath).find((path) => isExecutable(path) && printsVersion(path));
  if (system) return found('system', system);
  const packaged = await packagedBrowser();
  if (packaged) return found('@sparticuz/chromium', packaged.executablePath, packaged);

  throw new BrowserNotFoundError(
    'no browser found: install Chromium (`apt-get install chromium`, or `npx playwright install chromium`), ' +
      'or set CHROME_PATH to a Chrome or Chromium executable',
  );
}

/** Without background traffic, and with autoplay. Root cannot use the sandbox. */
function browserArguments(): string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    ...(isRoot ? ['--no-sandbox'] : []),
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
}

interface LibraryPaths {
  libraryDirectory: string;
  fontDirectory: string;
}

function environmentFor(env: NodeJS.ProcessEnv, libraries: LibraryPaths | undefined): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) result[name] = value;
  if (libraries) {
    const { LD_LIBRARY_PATH: before, FONTCONFIG_PATH: fonts } = result;
    Object.assign(result, {
      LD_LIBRARY_PATH: before ? `${libraries.libraryDirectory}:${before}` : libraries.libraryDirectory,
      ...(fonts || existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: libraries.fontDirectory }),
    });
  }
  return result;
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
  if (process.platform === 'win32') return true;
  const { status } = spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 10_000 });
  return status === 0;
}

/** Playwright's own Chromium, or its headless shell if only that is installed. */
async function playwrightBrowser(): Promise<string | undefined> {
  const { chromium } = await import('playwright-core');
  let full: string;
  try {
    full = chromium.executablePath();
  } catch {
    return undefined; // no build for this platform
  }
  if (isExecutable(full)) return full;
  // .../chromium-1234/chrome-linux64/chrome -> .../chromium_headless_shell-1234/*/*headless*shell*
  const versionDirectory = full.split(/[\\/]/).find((part) => /^chromium-\d+$/.test(part));
  if (!versionDirectory) return undefined;
  const browsers = full.slice(0, full.indexOf(versionDirectory));
  const shell = join(browsers, versionDirectory.replace('chromium-', 'chromium_headless_shell-'));
  if (!existsSync(shell)) return undefined;
  for (const folder of readdirSync(shell)) {
    for (const file of ['chrome-headless-shell', 'headless_shell', 'chrome-headless-shell.exe']) {
      const path = join(shell, folder, file);
      if (isExecutable(path)) return path;
    }
  }
  return undefined;
}

function systemCandidates(env: NodeJS.ProcessEnv, searchPath = ''): string[] {
  if (process.platform === 'darwin') {
    return ['Google Chrome', 'Chromium'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);
  }
  if (process.platform === 'win32') {
    return ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].flatMap((name) =>
      env[name] ? [join(env[name], 'Google', 'Chrome', 'Application', 'chrome.exe')] : [],
    );
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
  const directories = searchPath.split(delimiter).filter(Boolean);
  return names.flatMap((name) => directories.map((directory) => join(directory, name)));
}

interface PackagedBrowser extends LibraryPaths {
  executablePath: string;
}

/** The Chromium of `@sparticuz/chromium` (Linux on x64), unpacked with its libraries. */
async function packagedBrowser(): Promise<PackagedBrowser | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folders = createRequire(import.meta.url).resolve.paths('@sparticuz/chromium') ?? [];
  const packageDirectory = folders
    .map((folder) => join(folder, '@sparticuz/chromium'))
    .find((folder) => existsSync(join(folder, 'bin', 'chromium.br')));
  if (!packageDirectory) return undefined;
  const archives = join(packageDirectory, 'bin');
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };

  const parents = [join(dirname(dirname(packageDirectory)), '.cache', 'leo-abr'), join(tmpdir(), 'leo-abr')];
  const parent = parents.find(isWritableDirectory);
  if (!parent) throw new BrowserNotFoundError(`no writable folder to unpack Chromium in: tried ${parents.join(', ')}`);
  const home = join(parent, `chromium-${version}`);
  if (!existsSync(home)) await unpackInto(home, archives);
  configureFonts(join(home, 'fonts'));
  return {
    executablePath: join(home, 'chromium'),
    libraryDirectory: join(home, 'lib'),
    fontDirectory: join(home, 'fonts'),
  };
}

function isWritableDirectory(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Unpacks beside `home` and renames, so that `home` is always complete, even with several processes at once. */
async function unpackInto(home: string, archives: string): Promise<void> {
  const beside = mkdtempSync(`${home}.`);
  try {
    await pipeline(
      createReadStream(join(archives, 'chromium.br')),
      createBrotliDecompress({ chunkSize: 2 ** 21 }),
      createWriteStream(join(beside, 'chromium'), { mode: 0o755 }),
    );
    unpackArchive(join(archives, 'al2023.tar.br'), beside);
    unpackArchive(join(archives, 'fonts.tar.br'), join(beside, 'fonts'));
    renameSync(beside, home);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    // Another process was faster.
    if (existsSync(join(home, 'chromium'))) return;
    throw error;
  }
}

/** Replaces the package's configuration, which names folders of AWS Lambda: no text would be visible with it. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

function configureFonts(folder: string): void {
  const file = join(folder, 'fonts.conf');
  if (readFileSync(file, 'utf8') === FONTS_CONF) return;
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, FONTS_CONF);
  renameSync(beside, file);
}

function unpackArchive(archive: string, directory: string): void {
  mkdirSync(directory, { recursive: true });
  const input = brotliDecompressSync(readFileSync(archive));
  execFileSync('tar', ['-xof', '-', '-C', directory], { input, stdio: ['pipe', 'ignore', 'pipe'] });
}
