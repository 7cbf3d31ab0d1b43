/** Puts the built demo page beside the built command, so that `leo-abr serve-demo` has it wherever it is installed. */
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [from, to] = ['../build/demo', '../cli/dist/demo'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
rmSync(to, { recursive: true, force: true });
cpSync(from, to, { recursive: true });
