/** The end of `npm run types`: lets npm pack only the declarations that an entry's declarations import. */
import { writeFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { ROOT, read } from './command-line.js';

const TYPES = 'dist/types';
const reached = new Set();
const reach = (path) => {
  if (reached.has(path)) return;
  reached.add(path);
  const text = read(path);
  const [, name] = /\b(?:from|import)[ (]'([^.].*?)'/.exec(text) ?? [];
  if (name && !path.includes('/src/dash/'))
    throw new Error(`${path}: expected no types of ${name}: a page may lack it`);
  for (const [, from] of text.matchAll(/\b(?:from|import)[ (]'(\..+?)\.ts'/g))
    reach(`${posix.join(posix.dirname(path), from)}.d.ts`);
};
for (const { types } of Object.values(JSON.parse(read('package.json')).exports))
  if (types) reach(posix.normalize(types));
const kept = [...reached].map((path) => `!/${relative(TYPES, path)}\n`);
writeFileSync(join(ROOT, TYPES, '.npmignore'), `*.d.ts\n${kept.join('')}`);
