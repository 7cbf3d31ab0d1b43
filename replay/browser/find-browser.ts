/**
 * Finds a Chromium for the benchmark and the browser tests, in this order: `CHROME_PATH`, Playwright's own, the
 * system's chromium or chrome, the one inside the npm package `@sparticuz/chromium` (so `npm ci` alone is enough).
 */

import { spawnSync } from 'node:child_process';
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
import { basename, delimiter, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { readArchive } from './unpack-archive.ts';

export interface FoundBrowser {
  executablePath: string;
  /** Switches that every run of it wants; add your own behind them. */
  args: string[];
  /** The whole environment to start it with. */
  env: Record<string, string>;
  /** Where it was found. */
  source: 'CHROME_PATH' | 'playwright' | 'system' | '@sparticuz/chromium';
}

export interface FindBrowserOptions {
  /** Default: `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Where `@sparticuz/chromium` is unpacked. Default: `node_modules/.cache/leo-abr`, else the temporary folder. */
  cacheDirectory?: string;
}

/** No browser anywhere; its message says in one line what to install. */
export class BrowserNotFoundError extends Error {
  override readonly name = 'BrowserNotFoundError';
}

/**
 * The browser to use. Unpacks `@sparticuz/chromium` at its first use (about 3 s, 200 MB in the cache).
 * @throws {BrowserNotFoundError} where there is none, or where `CHROME_PATH` names something that does not run.
 */
export async function findBrowser(options: FindBrowserOptions = {}): Promise<FoundBrowser> {
  const env = options.env ?? process.env;
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
  const system = systemCandidates(env, searchPath).find((path) => isExecutable(path) && answersVersion(path));
  if (system) return found('system', system);
  const packaged = await packagedBrowser(options.cacheDirectory);
  if (packaged) return found('@sparticuz/chromium', packaged.executablePath, packaged);

  throw new BrowserNotFoundError(
    'no browser found: install Chromium (`apt-get install chromium`, or `npx playwright install chromium`), ' +
      'or set CHROME_PATH to a Chrome or Chromium executable',
  );
}

/** Quiet, deterministic, and allowed to start a video without a click. The sandbox cannot be set up by root. */
function browserArguments(): string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    ...(isRoot ? ['--no-sandbox'] : []),
    '--disable-background-networking',
    '--disable-component-update',
    '--no-first-run',
    '--no-default-browser-check',
    '--autoplay-policy=no-user-gesture-required',
    // Several pages play side by side, and only one of them is in front.
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

/** Tells a browser from a stub that only points at a store (Ubuntu's `chromium-browser`). */
function answersVersion(path: string): boolean {
  if (process.platform === 'win32') return true;
  const { status } = spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 10_000 });
  return status === 0;
}

/** Playwright's own Chromium, or its headless shell where only that was installed. */
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

/** The Chromium inside `@sparticuz/chromium` (Linux on x64), unpacked with the libraries that it carries. */
async function packagedBrowser(cacheDirectory: string | undefined): Promise<PackagedBrowser | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const packageDirectory = findPackage('@sparticuz/chromium');
  if (!packageDirectory) return undefined;
  const archives = join(packageDirectory, 'bin');
  if (!existsSync(join(archives, 'chromium.br'))) return undefined;
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };

  const parents = cacheDirectory
    ? [cacheDirectory]
    : [join(dirname(dirname(packageDirectory)), '.cache', 'leo-abr'), join(tmpdir(), 'leo-abr')];
  const parent = parents.find(isWritableDirectory);
  if (!parent) throw new BrowserNotFoundError(`no writable folder to unpack Chromium in: tried ${parents.join(', ')}`);
  const home = join(parent, `chromium-${version}`);
  if (!existsSync(home)) await unpackInto(home, archives);
  pointToFonts(join(home, 'fonts'));
  return {
    executablePath: join(home, 'chromium'),
    libraryDirectory: join(home, 'lib'),
    fontDirectory: join(home, 'fonts'),
  };
}

function findPackage(name: string): string | undefined {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
  let directory = dirname(entry);
  while (!existsSync(join(directory, 'package.json')) || basename(directory) === 'cjs') {
    const up = dirname(directory);
    if (up === directory) return undefined;
    directory = up;
  }
  return directory;
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

/** Unpacks beside `home` and renames, so that `home` is whole whenever it exists, however many start at once. */
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
    // Somebody else was faster.
    if (existsSync(join(home, 'chromium'))) return;
    throw error;
  }
}

/** The fonts lie beside their configuration. The one in the package names folders of AWS Lambda: without others no text would show. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

function pointToFonts(folder: string): void {
  const file = join(folder, 'fonts.conf');
  if (readFileSync(file, 'utf8') === FONTS_CONF) return;
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, FONTS_CONF);
  renameSync(beside, file);
}

function unpackArchive(archive: string, directory: string): void {
  for (const { path, mode, content } of readArchive(brotliDecompressSync(readFileSync(archive)))) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
  }
}
