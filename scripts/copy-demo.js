/** A step of `npm run build:demo`. */
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commandLine } from './command-line.js';

commandLine(`usage: node scripts/copy-demo.js

Copies the built demo page into the command's package, for \`leo-abr serve-demo\`.`);

const [from, to] = ['../build/demo', '../cli/dist/demo'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
rmSync(to, { recursive: true, force: true });
cpSync(from, to, { recursive: true });
