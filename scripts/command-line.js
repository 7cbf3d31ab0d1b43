/** The command line of the scripts behind `npm run`. */
import { parseArgs } from 'node:util';

/**
 * Returns `values` and `positionals` of Node's `parseArgs`, and `refuse(message)` for arguments that the script itself
 * finds wrong. `options` are those of `parseArgs`, to which `--help` is added; `positionals` is the largest number of
 * them. `--help` prints the usage text and ends the process with status 0. Wrong arguments print what is wrong and the
 * usage text on standard error, and end it with status 2.
 */
export function commandLine(usage, { options = {}, positionals = 0 } = {}) {
  const refuse = (message) => {
    console.error(`${message}\n\n${usage}`);
    process.exit(2);
  };
  let parsed;
  try {
    parsed = parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals: positionals > 0 });
  } catch (error) {
    refuse(error.message);
  }
  if (parsed.values.help) {
    console.log(usage);
    process.exit(0);
  }
  const excess = parsed.positionals[positionals];
  if (excess !== undefined) refuse(`unexpected argument ${excess}: expected at most ${positionals}`);
  return { ...parsed, refuse };
}
