/** `npm run size`. A change that grows the plugin on purpose also raises the budget. */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { commandLine } from './command-line.js';

commandLine(`usage: npm run size

Compares the built plugin's size in brotli with scripts/size-budget.json (bytes). The exit status is 1 if a file is over
its budget, or not in ASCII: a page that declares no charset reads other characters as different ones.`);

const root = new URL('../', import.meta.url);
const budget = JSON.parse(readFileSync(new URL('scripts/size-budget.json', root), 'utf8'));
for (const [file, allowed] of Object.entries(budget)) {
  const content = readFileSync(new URL(file, root));
  const bytes = brotliCompressSync(content).length;
  const isOver = bytes > allowed;
  const isAscii = content.every((byte) => byte < 127);
  console.log(
    `${file}: ${bytes} of ${allowed} bytes in brotli${isOver ? ', over the budget' : ''}${isAscii ? '' : ', not in ASCII'}`,
  );
  if (isOver || !isAscii) process.exitCode = 1;
}
