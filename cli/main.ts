/** The entry of the `leo-abr` command. */

import { runCommand } from './command.ts';
import { PROCESS_IO } from './command-io.ts';

// A reader that has seen enough (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
