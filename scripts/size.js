/** `npm run size`. A change that grows the plugin on purpose also raises the budget. */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run size

Compares the built plugin's size in brotli with scripts/size-budget.json (bytes). The exit status is 1 if a file is over
its budget.`);

const root = new URL('../', import.meta.url);
const budget = JSON.parse(readFileSync(new URL('scripts/size-budget.json', root), 'utf8'));
for (const [file, allowed] of Object.entries(budget)) {
  const bytes = brotliCompressSync(readFileSync(new URL(file, root))).length;
  const isOver = bytes > allowed;
  console.log(`${file}: ${bytes} of ${allowed} bytes in brotli${isOver ? ', over the budget' : ''}`);
  if (isOver) process.exitCode = 1;
}
