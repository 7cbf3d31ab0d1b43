/** `npm run e2e:next`: runs browser tests with the newest players. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, ROOT } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run e2e:next [-- <file of tests> ...]

Plays the browser tests with the tag @core in Chromium with the newest dash.js, hls.js and Shaka Player that npm has under
any dist-tag, pre-releases too. Installs them into build/next/.`,
  { positionals: Number.POSITIVE_INFINITY },
);

const unknown = positionals.find((path) => !existsSync(path));
if (unknown !== undefined) refuse(`${unknown} does not exist: expected a file or folder of tests`);

const PLAYERS = ['dashjs', 'hls.js', 'shaka-player'];
const home = join(ROOT, 'build/next');

/** Compares by semantic versioning: 1.8.0-beta.2 < 1.8.0-beta.10 < 1.8.0. */
function compare(one, other) {
  const [[core, pre], [otherCore, otherPre]] = [one, other].map((version) => version.split(/-(.*)/));
  const byNumber = (a, b) => a.localeCompare(b, 'en', { numeric: true });
  return byNumber(core, otherCore) || !pre - !otherPre || byNumber(pre ?? '', otherPre ?? '');
}

function npm(what, ...args) {
  const options = { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  try {
    return execFileSync('npm', [...args, '--loglevel=error', '--fetch-retries=1'], options);
  } catch {
    console.error(`no ${what} from npm: e2e:next needs a registry (npm config get registry)`);
    process.exit(1);
  }
}

mkdirSync(home, { recursive: true });
// Otherwise npm would install into the checkout.
writeFileSync(`${home}/package.json`, '{ "private": true }\n');
const wanted = PLAYERS.map((name) => {
  const tags = JSON.parse(npm(`versions of ${name}`, 'view', name, 'dist-tags', '--json'));
  const [tag, version] = Object.entries(tags).reduce(
    (newest, one) => (compare(one[1], newest[1]) > 0 ? one : newest),
    ['latest', tags.latest],
  );
  console.log(`${name} ${version} (${tag})`);
  return `${name}@${version}`;
});
const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
npm(wanted.join(', '), 'install', ...wanted, ...flags);

const args = ['playwright', 'test', '--project=plugin', '--project=zoo', '--grep=@core', ...positionals];
const env = { ...process.env, LEO_ABR_PLAYERS: `${home}/package.json` };
const { status } = spawnSync('npx', args, { stdio: 'inherit', env });
process.exitCode = status ?? 1;
