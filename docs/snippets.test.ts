/**
 * The commands of README.md and the guide run. The commands and flags of other pages exist, but they need other data or
 * hours. Code compiles, and links lead somewhere.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { planOf } from '../abr/mpc-l/evaluations.fixture.ts';
import { createLiveMpcL } from '../abr/mpc-l/live/live-mpc-l.ts';
import type { MpcLOptions } from '../abr/mpc-l/options.ts';
import { quantilesOf, stateOf } from '../abr/random-states.fixture.ts';
import { run } from '../cli/shared/run.fixture.ts';
import { temporaryFolder } from '../replay/folder.fixture.ts';
import { parseTraceCsv } from '../replay/formats/trace-csv.ts';
import { parseConfig } from '../service/triggers/config.ts';
import { VERSION } from '../trial/page/reports.ts';
import { SESSION_REPORT_FIELDS } from '../trial/session-report.ts';
import { validConfig } from '../trial/trial-config.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = [
  'README.md',
  ...['cli/README', 'docs/getting-started', 'docs/benchmark', 'docs/own-algorithm'].map((name) => `${name}.md`),
];
/** The commands of these reference documents are checked, not run. */
const OTHER_DOCUMENTS = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .filter((document) => !DOCUMENTS.includes(document))
  .concat('examples/README.md');

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

type Snippet = { document: string; line: number; language: string; code: string };

function blocksOf(document: string): Snippet[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  if ([...text.matchAll(/^```\w*$/gm)].length % 2 === 1) throw new Error(`${document}: a block without an end`);
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => {
    return { document, line: text.slice(0, index).split('\n').length, language, code };
  });
}

const BLOCKS = DOCUMENTS.flatMap(blocksOf);
const inLanguage = (language: string) => BLOCKS.filter((block) => block.language === language);
const commands = inLanguage('sh').flatMap(({ document, line, code }) =>
  code
    .trim()
    .split('\n')
    .map((command, i) => ({ at: `${document}:${line + 1 + i}`, document, command })),
);

test('blocks, commands and pages are found, and every block is in a language that is checked here', () => {
  expect(BLOCKS.length).toBeGreaterThan(8);
  expect(asked.length).toBeGreaterThan(15);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/findings.md', 'abr/mpc-l/README.md']));
  expect([...new Set(BLOCKS.map(({ language }) => language))].sort()).toEqual(['csv', 'js', 'sh', 'ts']);
});

test("README.md's algorithm is the template of `leo-abr new-algorithm`", () => {
  const template = readFileSync(join(ROOT, 'docs/examples/my-algorithm.ts'), 'utf8').replaceAll(
    /^ *\/\*\*[\s\S]*?\*\/\n/gm,
    '',
  );
  expect(BLOCKS.map(({ code }) => code)).toContain(template);
});

test('nothing lets npx download a package: on npm, these names are not ours', () => {
  const { status, stdout } = spawnSync('git', ['grep', '-nE', 'npx +leo-abr'], { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});

test('the npm scripts of the documents exist', () => {
  const named = [...DOCUMENTS, ...OTHER_DOCUMENTS].flatMap((document) => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    return [...text.matchAll(/npm (?:run )?((?<=run )[\w:-]+|start|test)/g)].map(([, name]) => name!);
  });
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

describe('commands', () => {
  const before = process.cwd();
  const at = temporaryFolder('file');
  beforeAll(() => {
    // Commands read from the checkout but must not write to it.
    symlinkSync(join(ROOT, 'replay'), at('replay'));
    process.chdir(at());
  });
  afterAll(() => process.chdir(before));

  test('are those of npm and leo-abr', () => {
    const parts = commands.flatMap(({ command }) => command.split('&&').map((part) => part.trim()));
    const known = /^([A-Z_]+=\S+ )?(npx --no leo-abr|npm (ci|install|run|start|test))\b/;
    expect(parts.filter((part) => !known.test(part))).toEqual([]);
  });

  /** Commands run in the order of the text, because later commands use files of earlier commands. */
  test.each(commands.filter(({ command }) => /^npx --no leo-abr /.test(command)))(
    '$at: $command',
    async ({ command }) => {
      // Vite does not bundle in Jest's sandbox; cli/built-command.test.ts plays the algorithm.
      const args = command.replace('./mine.ts,', '').split(' ').slice(3);
      // Other tests start browsers and servers, so only their flags are checked here. The simulator is slow in Jest's
      // sandbox, so a twentieth of the sessions play, with the first segments: in a live session, two after the join.
      const isHelp = ['bench', 'serve', 'serve-demo'].includes(args[0]!);
      if (args[0] === 'new-algorithm') rmSync(at(args[1]!), { force: true });
      const less = args[0] === 'simulate' ? ['--segments', '12', '--shard', '1/20'] : [];
      const asked = isHelp ? [args[0]!, '--help'] : [...args, ...less];
      const { status, stdout, stderr } = await run(asked);
      expect({ status, errors: status === 0 ? '' : stderr }).toEqual({ status: 0, errors: '' });
      if (isHelp) for (const flag of args.filter((one) => one.startsWith('--'))) expect(stdout).toContain(`${flag} `);
      const written = args[args.indexOf('--out') + 1]!;
      if (!isHelp && args.includes('--out')) expect(existsSync(at(written))).toBe(true);
    },
  );
});

const OTHER_BLOCKS = OTHER_DOCUMENTS.flatMap(blocksOf);

/** The words after `leo-abr` in shell blocks and indented lines. Continued lines are joined. */
const asked = OTHER_DOCUMENTS.flatMap((document) => {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll(/\\\n\s*/g, '');
  const lines = text.split('\n').filter((line) => /^\s*(npx --no leo-abr|leo-abr|for |curl )/.test(line));
  return lines.flatMap((line) =>
    [...line.matchAll(/(?:^|\s)leo-abr ([^#;|]+)/g)].map(([, rest]) => ({
      document,
      words: rest!.trim().split(/\s+/),
    })),
  );
});

test.each(asked)('commands of the reference $document: leo-abr $words', async ({ words }) => {
  const command = words.slice(0, ['datasets', 'trace', 'transport'].includes(words[0]!) ? 2 : 1);
  const { status, stdout } = await run([...command, '--help']);
  expect(status).toBe(0);
  expect(stdout).toContain(`Usage: leo-abr ${command.join(' ')} `);
  for (const flag of words.filter((one) => one.startsWith('--'))) expect(stdout).toMatch(new RegExp(`${flag}[ \n]`));
});

/** Short snippets use these names without an import. The keys are the modules. */
const IMPORTS = Object.entries({
  dashjs: ['MediaPlayer'],
  'leo-abr': ['attachLeoAbr', 'type Forecast', 'type Observation', 'type SessionContext'],
  'leo-abr/onnx': ['createOnnxForecaster'],
  'leo-abr/model': ['createModelForecaster'],
  'leo-abr/service': ['createServiceForecaster', 'httpTimeSource'],
}).flatMap(([from, names]) => names.map((name) => ({ name, from })));
const DECLARED = `
declare const player: import('dashjs').MediaPlayerClass;
declare const video: HTMLVideoElement;
declare const options: import('leo-abr').LeoAbrOptions;
declare const handle: import('leo-abr').LeoAbrHandle;
declare const forecaster: import('leo-abr/onnx').OnnxForecaster;
declare const modelUrl: string;
`;

/** With `moduleResolution` `node16`, a block of the documents replaces this import. */
const SHAKA_IMPORT = "import shaka from 'shaka-player';\n";
const isShakaOfNode16 = ({ code }: Snippet) => code.includes('shakaModule');

test.each([
  { module: 'esnext', moduleResolution: 'bundler' },
  { module: 'node16', moduleResolution: 'node16' },
])('code compiles against the current plugin, with $moduleResolution', (resolution) => {
  const folder = join(ROOT, 'build', 'docs-snippets', resolution.moduleResolution);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const blocks = [...BLOCKS, ...OTHER_BLOCKS].filter(({ language }) => language === 'ts' || language === 'js');
  const shakaOfNode16 = blocks.find(isShakaOfNode16)!.code;
  const snippets = blocks.filter((block) => !isShakaOfNode16(block));
  expect(snippets.length).toBeGreaterThan(10);
  expect(snippets.filter(({ code }) => code.includes(SHAKA_IMPORT)).length).toBeGreaterThan(0);
  for (const { document, line, code: written } of snippets) {
    const code = resolution.module === 'node16' ? written.replace(SHAKA_IMPORT, shakaOfNode16) : written;
    const imported = [...code.matchAll(/^import .*$/gm)].map(([text]) => text).join('\n');
    const others = IMPORTS.filter(({ name }) => !new RegExp(`\\b${name.replace('type ', '')}\\b`).test(imported)).map(
      ({ name, from }) => `import { ${name} } from '${from}';`,
    );
    const isImported = (text: string) => new RegExp(`\\b${/const (\w+)/.exec(text)?.[1]}\\b`).test(imported);
    const declared = DECLARED.split('\n').filter((text) => !isImported(text));
    // The snippet has its own block, so that it may redeclare the names above.
    const body = `{\n${code.replaceAll(/^(import .*$|export )/gm, '')}\n}`;
    writeFileSync(
      join(folder, `${document.replaceAll(/\W/g, '-')}-${line}.ts`),
      [imported, ...others, ...declared, body, 'export {};\n'].join('\n'),
    );
  }
  cpSync(join(ROOT, 'docs/examples/my-algorithm.ts'), join(folder, 'mine.ts'));
  writeFileSync(join(folder, 'url.d.ts'), "declare module '*?url' {\n  const url: string;\n  export default url;\n}\n");
  const base = JSON.parse(readFileSync(join(ROOT, 'tsconfig.base.json'), 'utf8')) as { compilerOptions: object };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...base.compilerOptions,
        ...resolution,
        composite: false,
        emitDeclarationOnly: false,
        noEmit: true,
        rootDir: ROOT,
        lib: ['ES2022', 'DOM', 'DOM.Iterable'],
        paths: {
          'leo-abr': [join(ROOT, 'src/index.ts')],
          'leo-abr/*': [join(ROOT, 'src/*.ts'), join(ROOT, 'predictor/*/index.ts')],
          'leo-abr/trial': [join(ROOT, 'trial/index.ts')],
          'leo-abr/model': [join(ROOT, 'predictor/model-url/index.ts')],
          'leo-abr/service': [join(ROOT, 'predictor/service-client/index.ts')],
        },
      },
      include: ['*.ts', '../../../docs/examples/*.ts'],
    }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

test.each(OTHER_BLOCKS.filter(({ language }) => language === 'json'))('$document:$line: JSON', ({ code, document }) => {
  const value = JSON.parse(code);
  if (!('triggers' in value)) return;
  const names = parseConfig(code, document).triggers.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(value.triggers.map(({ name }: { name: string }) => name)));
});

/** Pages must use existing files of the installed package. */
test.each(OTHER_BLOCKS.filter(({ language }) => language === 'html'))('$document:$line: a page', ({ code }) => {
  const files = [...code.matchAll(/node_modules\/(?:leo-abr\/)?([\w./-]+)/g)].map(([whole, file]) =>
    whole.startsWith('node_modules/leo-abr/') ? join(ROOT, file!) : join(ROOT, whole),
  );
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});

test.each(inLanguage('csv'))('$document:$line: a trace', ({ code }) => {
  const [trace] = parseTraceCsv(code, 'example');
  expect(trace!.ratesBps[0]).toBeGreaterThan(0);
});

const { stdout } = spawnSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' });
const files = stdout.split('\n').filter((file) => file !== '' && existsSync(join(ROOT, file)));

/** A page's anchors. GitHub makes them of headings. */
const anchorsOf = (file: string) => {
  const text = readFileSync(file, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
};

test.each(files)('the links of %s lead to files and headings', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path, anchor] = link.split('#') as [string, string?];
    const target = path === '' ? join(ROOT, file) : join(ROOT, dirname(file), path);
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test('the list of dependencies has every one, and no other', () => {
  const list = readFileSync(join(ROOT, 'docs/decisions/each-dependency-and-why.md'), 'utf8');
  const listed = new Set([...list.matchAll(/`([@a-z][\w./@-]*)`/g)].map(([, name]) => name!));
  const packages = ['package.json', 'cli/package.json'].map((file) =>
    JSON.parse(readFileSync(join(ROOT, file), 'utf8')),
  );
  const needed = packages.flatMap(
    ({ dependencies, optionalDependencies, devDependencies, peerDependencies, overrides }) =>
      Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies, ...peerDependencies, ...overrides }),
  );
  expect(needed.filter((name) => !listed.has(name))).toEqual([]);
  const rows = [...list.matchAll(/^- (`.*?): /gm)].flatMap(([, cell]) => cell!.match(/(?<=`)[@a-z][^`, ]+(?=`)/g)!);
  const ofPython = ['numpy'];
  expect(rows.filter((name) => !needed.includes(name) && !ofPython.includes(name))).toEqual([]);
});

test('the guide of trials names each field of a report, and no other', () => {
  const guide = readFileSync(join(ROOT, 'docs/trials.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| (`.*?) *\|/gm)].flatMap(([, cell]) => cell!.match(/\w+(?=`)/g)!);
  expect(rows.sort()).toEqual(Object.keys(SESSION_REPORT_FIELDS).sort());
});

test("the example of a trial's configuration is valid", () => {
  const example = JSON.parse(readFileSync(join(ROOT, 'examples/plain/trial.json'), 'utf8'));
  expect(validConfig(example)).toEqual(example);
  expect(example).toMatchObject({ enabled: true, shares: { player: 0.99, 'mpc-l': 0.01 } });
});

test.each(
  [...readFileSync(join(ROOT, 'docs/wrappers.md'), 'utf8').matchAll(/^\|.*\| (.*`.*) +\| \[.*\]\(\.\.\/(.*)\)/gm)].map(
    ([, code, example]) => ({ code: code!, example: example! }),
  ),
)("docs/wrappers.md's code is in $example", ({ code, example }) => {
  const text = readFileSync(join(ROOT, example), 'utf8');
  expect([...code.matchAll(/`([^`]+)`/g)].map(([, part]) => part!).filter((part) => !text.includes(part))).toEqual([]);
});

test('examples, reports and the citation have the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(VERSION).toBe(version);
  for (const name of readdirSync(join(ROOT, 'examples')).filter((one) => !one.includes('.'))) {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'examples', name, 'package.json'), 'utf8'));
    expect({ name, is: dependencies['leo-abr'] }).toEqual({ name, is: `file:../leo-abr-${version}.tgz` });
  }
  expect(readFileSync(join(ROOT, 'CITATION.cff'), 'utf8')).toContain(`\nversion: ${version}\n`);
});

const ladderBps = [3e6, 8e6, 15e6];
const media = { segmentIndex: 25, segmentsRemaining: 20, previousBitrateBps: 8e6 };
const state = stateOf(ladderBps, { bufferLevelSeconds: 4, bufferCapSeconds: 12, ...media });
const quantilesBps = [
  [5e6, 12e6, 24e6],
  [8e6, 12e6, 18e6],
];
const forecast = quantilesOf(12e6, { source: 'example', stepEndsSeconds: [4, 20], quantilesBps });
/** Four futures fit on a page. At risk 0, a score is a mean. Without abandonment, a row is a download. */
const tuning = { futures: 4, outagesPerSecond: 0 };
const options: MpcLOptions = { risk: 0, watchSeconds: Number.POSITIVE_INFINITY, abandon: false, tuning };

const LATENCY_SECONDS = 0.05;

test('the worked example of abr/mpc-l/README.md is what the code computes', () => {
  const { futures, ranks, later, outcomes } = planOf(state, forecast, options);
  const playable = 4 - 0.12;
  const capacity = (f: number, seconds: number) => (1e-3 / futures.transferSeconds(f, seconds, 1e3)).toFixed(1);
  const lines = [
    '| future | Mbit/s until 4 s | Mbit/s from 4 s on |',
    '| ------ | ---------------- | ------------------ |',
    ...[0, 1, 2, 3].map((f) => `| ${f + 1} | ${capacity(f, 0)} | ${capacity(f, 10)} |`),
    '',
    '| Mbit/s | future | download s | stall s | this segment | buffer s | rank | later segments | sum |',
    '| ------ | ------ | ---------- | ------- | ------------ | -------- | ---- | -------------- | --- |',
  ];
  const summary = [
    '| Mbit/s | score (mean of the sums) | expected QoE | expected stall s |',
    '| ------ | ------------------------ | ------------ | ---------------- |',
  ];
  ladderBps.forEach((bps, r) => {
    const mbps = bps / 1e6;
    let sum = 0;
    for (let f = 0; f < 4; f++) {
      const download = LATENCY_SECONDS + futures.transferSeconds(f, LATENCY_SECONDS, 4 * bps);
      const stall = Math.max(0, download - playable);
      const segment = mbps - Math.abs(mbps - 8) - 15 * stall;
      const buffer = 4 - Math.min(download, playable) + 4;
      const rank = futures.binAt(f, download, ranks.bins);
      const rest = later.at(buffer, rank, r);
      sum += segment + rest;
      const cells = [mbps, f + 1, download.toFixed(2), stall.toFixed(2), segment.toFixed(2), buffer.toFixed(2), rank];
      lines.push(`| ${[...cells, rest.toFixed(1), (segment + rest).toFixed(1)].join(' | ')} |`);
    }
    const { score, qoe, stallSeconds } = outcomes.evaluate(outcomes.newRequest(r));
    expect(score).toBeCloseTo(sum / 4, 9);
    summary.push(`| ${[mbps, score.toFixed(1), qoe.toFixed(2), stallSeconds.toFixed(2)].join(' | ')} |`);
  });
  const { representation, reason } = createLiveMpcL(options).decide(state, forecast);
  const decision = `    ${ladderBps[representation]! / 1e6} Mbit/s, reason "${reason}"`;
  // A formatter may pad tables and wrap lines, and text may be between the tables.
  const unpadded = (text: string) => text.replace(/\s+/g, ' ').replace(/-+/g, '-');
  const readme = unpadded(readFileSync(new URL('../abr/mpc-l/README.md', import.meta.url), 'utf8'));
  for (const line of [...lines, ...summary, decision]) expect(readme).toContain(unpadded(line));
});
