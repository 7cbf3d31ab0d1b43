/** The entry of the `leo-abr` command. */

import { runCommand } from './command.ts';
import { PROCESS_IO } from './shared/command-io.ts';
import { EXIT_WRONG_INPUT } from './shared/exit-status.ts';
import { TOOL_NAME } from './tool.ts';

// If the reader closes the pipe (`| head`), that is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`${TOOL_NAME}: standard output: ${error.message}\n`);
  process.exit(EXIT_WRONG_INPUT);
});

// If nobody reads the messages any more (`2>&1 | head`), the command goes on.
process.stderr.on('error', () => {});

process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
