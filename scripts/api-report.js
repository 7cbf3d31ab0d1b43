/** `npm run api`. A change of docs/api.txt is a change of the public types and belongs in the changelog. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { commandLine, ROOT, read } from './command-line.js';

const { values } = commandLine(
  `usage: npm run api [-- --check]

Writes docs/api.txt: the built declarations (npm run types) that the package's entries reach, without comments. If they
have changed, the newest section of CHANGELOG.md must have changed, too. With --check nothing is written; the exit status is
1 if the report is not that of the built types.`,
  { options: { check: { type: 'boolean' } } },
);

const REPORT = join(ROOT, 'docs/api.txt');

function fail(message) {
  console.error(message);
  process.exit(1);
}

const DECLARATION = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const) (\w+)/;

/** Top-level declarations of a file by name, its imports by local name, and the files whose exports it passes on. */
function parsed(path) {
  const [declared, imported, passed] = [new Map(), new Map(), []];
  let name;
  const text = read(path).replace(/\/\*[\s\S]*?\*\//g, '');
  for (const line of text.split('\n')) {
    if (/^\s*$|^\s*(private|#)|sourceMappingURL|^export \{\};/.test(line)) continue;
    const [, kind, list, from] =
      /^(import|export)(?: type)? (\{.*\}|\*(?: as \w+)?)(?: from '(.*)')?;/.exec(line) ?? [];
    const target = from?.startsWith('.') ? join(dirname(path), from.replace(/\.[jt]s$/, '.d.ts')) : undefined;
    if (kind !== undefined) name = undefined;
    if (kind === 'export' && list === '*') passed.push(target);
    else if (kind !== undefined) {
      for (const [, original, local = original] of list.matchAll(/(?:type )?(\w+)(?: as (\w+))?(?=,| \})/g)) {
        const place = target ?? (from ? undefined : path);
        imported.set(local, { path: place, name: original, isExported: kind === 'export' });
      }
      continue;
    } else name = DECLARATION.exec(line)?.[1] ?? name;
    if (name !== undefined) declared.set(name, [...(declared.get(name) ?? []), line]);
  }
  return { declared, imported, passed };
}

const files = new Map();
const fileOf = (path) => files.get(path) ?? files.set(path, parsed(path)).get(path);

function exportsOf(path) {
  const { declared, imported, passed } = fileOf(path);
  const own = [...declared].filter(([, [line]]) => line.startsWith('export '));
  const names = [...own, ...[...imported].filter(([, one]) => one.isExported)].map(([name]) => name);
  return [...names, ...passed.flatMap(exportsOf)];
}

/** Adds a name's declaration from the file or from the file that it imports the name from, and all that it mentions. */
function add(path, name, reached) {
  const { declared, imported, passed } = fileOf(path);
  const elsewhere = imported.get(name);
  if (declared.has(name)) {
    const text = declared.get(name).join('\n');
    const key = `${relative(join(ROOT, 'dist/types'), path)}: ${name}`;
    if (reached.has(key)) return;
    reached.set(key, text);
    for (const [mentioned] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) {
      if (declared.has(mentioned) || imported.has(mentioned)) add(path, mentioned, reached);
    }
  } else if (elsewhere?.path && !(elsewhere.path === path && elsewhere.name === name))
    add(elsewhere.path, elsewhere.name, reached);
  else for (const one of passed) if (exportsOf(one).includes(name)) add(one, name, reached);
}

const { exports } = JSON.parse(read('package.json'));
const entries = Object.entries(exports).flatMap(([name, { types }]) => (types ? [[name, join(ROOT, types)]] : []));
const missing = entries.find(([, path]) => !existsSync(path));
if (missing) fail(`${missing[1]}: expected the types of "${missing[0]}"; run npm run types`);
const reached = new Map();
for (const [, path] of entries) for (const name of exportsOf(path)) add(path, name, reached);
const types = [
  ...entries.map(([name, path]) => `leo-abr${name.slice(1)}: ${exportsOf(path).sort().join(', ')}`),
  ...[...reached].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => `\n# ${key}\n${text}`),
].join('\n');

const newest = /^## .*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(read('CHANGELOG.md'))?.[1] ?? '';
const hash = createHash('sha256').update(newest).digest('hex').slice(0, 16);
const [, knownHash, known] = existsSync(REPORT) ? /^changelog: (\w+)\n\n([\s\S]*)\n$/.exec(read(REPORT)) : [];
if (known === types) console.log('docs/api.txt: the public types are as reported');
else if (values.check)
  fail('docs/api.txt: expected the built types; describe the change in CHANGELOG.md, then npm run api');
else if (knownHash === hash)
  fail('CHANGELOG.md: the public types have changed: expected a line on it in the newest section');
else writeFileSync(REPORT, `changelog: ${hash}\n\n${types}\n`);
