/** Installs the packed leo-abr-tools in an empty folder, and runs its commands there. */

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findBrowser } from '../../replay/browser/find-browser.ts';
import { builtFolder, once, ROOT } from '../builds.ts';
import { startProgram } from '../engines/engine.ts';

/** Returns the folder, in which the tests of a run have the package once. */
export const installTools = () => once('tools', install);

function install(folder: string): void {
  const text = readFileSync(join(ROOT, 'cli/package.json'), 'utf8');
  const { version, dependencies } = JSON.parse(text);
  const modules = join(folder, 'node_modules');
  // The copy is packed, because other tests may use the checkout's cli/dist.
  const copy = join(folder, 'copy');
  for (const name of ['README.md', 'bin', 'deploy', 'package.json']) {
    cpSync(join(ROOT, 'cli', name), join(copy, name), { recursive: true });
  }
  cpSync(builtFolder('cli'), join(copy, 'dist'), { recursive: true });
  for (const page of ['bench-page', 'demo'] as const) {
    cpSync(builtFolder(page), join(copy, 'dist', page), { recursive: true });
  }
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  run('npm', 'pack', copy, '--pack-destination', folder);
  // This is like `npm install`, but dependencies are linked, which avoids a download.
  for (const place of ['leo-abr-tools', '.bin']) mkdirSync(join(modules, place), { recursive: true });
  const tarball = join(folder, `leo-abr-tools-${version}.tgz`);
  run('tar', '-xzf', tarball, '-C', join(modules, 'leo-abr-tools'), '--strip-components=1');
  symlinkSync('../leo-abr-tools/bin/leo-abr.js', join(modules, '.bin/leo-abr'));
  for (const name of [...Object.keys(dependencies), '@duckdb/node-api']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  const app = { private: true, dependencies: { 'leo-abr-tools': version } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(app));
}

const environment = (LANG?: string) =>
  LANG === undefined ? process.env : { ...process.env, LANG, LANGUAGE: undefined, LC_ALL: undefined };

/** Runs the installed command to its end. Rejects with standard error if the command fails. */
export async function runTools(folder: string, args: string[], LANG?: string) {
  const { executablePath, env: forBrowser } = await findBrowser({ env: environment(LANG) });
  const env = { ...forBrowser, CHROME_PATH: executablePath };
  return new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile(join(folder, 'node_modules/.bin/leo-abr'), args, { cwd: folder, env }, (error, stdout, stderr) =>
      error === null ? resolve({ stdout, stderr }) : reject(new Error(stderr)),
    );
  });
}

/** Runs a command, passes the address that it prints to `during`, stops it like Ctrl-C and awaits its end. */
export async function servingTools(
  folder: string,
  command: string,
  during: (url: string) => Promise<void>,
  LANG?: string,
): Promise<void> {
  const [program = '', ...args] = command.split(' ');
  // npx ends before the service.
  const { child, ended, match } = startProgram(program, args, { cwd: folder, env: environment(LANG), detached: true });
  try {
    await during(await match(/ is at ([^\s"]+)/));
  } finally {
    process.kill(-child.pid!, 'SIGINT');
  }
  await ended;
}
