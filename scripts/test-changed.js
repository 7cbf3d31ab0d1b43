/** `npm run test:changed`: runs the tests that are nearest to a change. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { commandLine, ROOT } from './command-line.js';

const { positionals, refuse } = commandLine(
  `usage: npm run test:changed [-- <commit>]

Runs the tests of what has changed since this commit, by default HEAD, with files that are not in git: first the tests
beside changed files, then those of their folders, then, for an adapter or the demo, a test in Chromium.`,
  { positionals: 1 },
);

/** Tests by the beginning of a changed path, most exact first: unit tests, and the arguments of a browser test. */
const PLAYERS = 'e2e/playback/players';
const NEAREST = {
  'abr/': [['abr', 'replay/algorithms', 'replay/simulator/golden-sessions']],
  'session/': [['session', 'src/adapters', 'src/dash/contract', 'src/hls/contract']],
  'src/dash/': [
    ['src/dash', 'src/adapters'],
    [PLAYERS, '--grep=spec.ts dash'],
  ],
  'src/hls/': [
    ['src/hls', 'src/adapters'],
    [PLAYERS, '--grep=hls.js [a-z]'],
  ],
  'src/shaka/': [
    ['src/shaka', 'src/adapters'],
    [PLAYERS, '--grep=Shaka 5'],
  ],
  'src/': [['src']],
  'trial/': [['trial']],
  'replay/simulator/': [['replay/simulator']],
  'demo/': [['demo'], ['e2e/demo/screenshots']],
};
const nearestTo = (path) => {
  const place = Object.keys(NEAREST).find((one) => path.startsWith(one));
  if (place !== undefined) return NEAREST[place];
  const [folder] = /^(predictor|replay|service|cli|docs|transport)\/([\w-]+\/)?/.exec(path) ?? [];
  if (folder !== undefined) return [[folder]];
  return path.endsWith('.spec.ts') ? [[], [path]] : [[]];
};

const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
const [since = 'HEAD'] = positionals;
const { status } = spawnSync('git', ['rev-parse', '--verify', '--quiet', since], { cwd: ROOT });
if (status !== 0) refuse(`no commit ${since} in git`);
const changed = [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')];
const nearest = changed.map(nearestTo);
const testsBeside = (path) => [
  path.replace(/(\.test)?\.ts$/, '.test.ts'),
  path.replace(/(\w[\w-]*)\/[^/]*$/, '$1/$1.test.ts'),
];
const beside = changed.flatMap(
  (path) => testsBeside(path).find((one) => /\.test\.ts$/.test(one) && existsSync(`${ROOT}${one}`)) ?? [],
);
const folders = [...new Set(nearest.flatMap(([unit]) => unit))];
const pages = [...new Map(nearest.flatMap(([, browser]) => (browser ? [[browser.join(' '), browser]] : []))).values()];

const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const projects = ['plugin', 'zoo', 'tools'].map((name) => `--project=${name}`);
const steps = [
  ...(beside.length > 0 ? [[...node, ...beside]] : []),
  ...(folders.length > 0 ? [[...node, ...folders]] : []),
  ...pages.map((page) => ['node_modules/@playwright/test/cli.js', 'test', ...projects, ...page]),
];
if (steps.length === 0) console.log('no tests are near to this change: npm test');
const failed = steps.find((args) => spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }).status !== 0);
process.exitCode = failed ? 1 : 0;
