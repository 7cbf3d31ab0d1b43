/** The entry of the `leo-abr` command. */

import { runCommand } from './command.ts';
import { PROCESS_IO } from './shared/command-io.ts';

// A pipe that its reader closes (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), PROCESS_IO);
