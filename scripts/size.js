/**
 * `npm run size`: what the built plugin weighs in brotli against scripts/size-budget.json (bytes). Exit status 1 where it
 * is over. Whoever makes it grow on purpose raises the budget in the same change.
 */
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

const root = new URL('../', import.meta.url);
const budget = JSON.parse(readFileSync(new URL('scripts/size-budget.json', root), 'utf8'));
for (const [file, allowed] of Object.entries(budget)) {
  // Brotli's default quality is the best.
  const bytes = brotliCompressSync(readFileSync(new URL(file, root))).length;
  const isOver = bytes > allowed;
  console.log(`${file}: ${bytes} of ${allowed} bytes in brotli${isOver ? ', over the budget' : ''}`);
  if (isOver) process.exitCode = 1;
}
