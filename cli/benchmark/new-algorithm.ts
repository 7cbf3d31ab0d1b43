/** `leo-abr new-algorithm`: begins a file with an algorithm of the user. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { check, InputError } from '../../abr/errors.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { builtFolder } from '../tool.ts';

const TEMPLATE = 'my-algorithm.ts';

export function newAlgorithmCommand(io: CommandIo): Command {
  return new Command('new-algorithm')
    .description('write a file with an algorithm of your own, which simulate and bench play')
    .argument('<file.ts>', 'the new file')
    .action((file: string) => {
      check(file.endsWith('.ts'), 'new-algorithm', 'a file name that ends in .ts', file);
      const text = readFileSync(join(builtFolder('examples', TEMPLATE, 'docs/examples'), TEMPLATE));
      try {
        writeFileSync(file, text, { flag: 'wx' });
      } catch (error) {
        throw new InputError(file, 'a new file in an existing folder', error, String(error));
      }
      const path = file.includes('/') ? file : `./${file}`;
      io.stderr.write(
        `${file} is written. Change decide(), and compare:\n\n` +
          'npx --no leo-abr trace synthesize --shipped --out links\n' +
          `npx --no leo-abr simulate --traces links --scenario hd-16 --starts every:61 --algorithms ${path},mpc-l,mpc-d\n`,
      );
    });
}
