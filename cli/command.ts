/** Runs the `leo-abr` command as a function of its arguments and its process. */

import { Command, CommanderError } from 'commander';
import { check } from '../abr/errors.ts';
import { collectCommand } from '../trial/command/collect.ts';
import { trialCommand } from '../trial/command/trial.ts';
import { benchCommand } from './benchmark/bench.ts';
import { compareCommand } from './benchmark/compare.ts';
import { mergeCommand } from './benchmark/merge.ts';
import { newAlgorithmCommand } from './benchmark/new-algorithm.ts';
import { simulateCommand } from './benchmark/simulate.ts';
import { datasetsCommand } from './datasets/datasets.ts';
import { qualityCommand } from './quality/quality.ts';
import { reportCommand } from './report/report.ts';
import { serveCommand } from './serve/serve.ts';
import { serveDemoCommand } from './serve/serve-demo.ts';
import type { CommandIo } from './shared/command-io.ts';
import { EXIT_DONE, EXIT_FAULT, EXIT_WRONG_INPUT, ExitWith, isInputError } from './shared/exit-status.ts';
import { TOOL_NAME, TOOL_VERSION } from './tool.ts';
import { traceCommand } from './trace.ts';
import { exportCommand } from './train/export.ts';
import { trainCommand } from './train/train.ts';
import { transportCommand } from './transport.ts';

/** The order of the commands in the help. */
const COMMANDS = [
  ...[simulateCommand, benchCommand, newAlgorithmCommand, mergeCommand, compareCommand, reportCommand, traceCommand],
  ...[
    datasetsCommand,
    qualityCommand,
    transportCommand,
    serveCommand,
    serveDemoCommand,
    collectCommand,
    trainCommand,
    exportCommand,
  ],
  trialCommand,
];

/** Runs the command with the arguments after its name. Returns the exit status. Errors go to `io.stderr`. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const program = new Command(TOOL_NAME)
    .description('replay, compare and serve low-Earth-orbit links for adaptive streaming')
    .version(TOOL_VERSION);
  for (const commandOf of COMMANDS) program.addCommand(commandOf(io));
  settle(program, io);
  try {
    // A shell passes an empty text for a variable that is not set; an empty `--host` would mean all addresses.
    for (const [i, arg] of args.entries())
      check(!/^(--[\w-]+=)?$/.test(arg), arg || args[i - 1] || 'arguments', 'a value', '');
    await program.parseAsync(args, { from: 'user' });
    return EXIT_DONE;
  } catch (error) {
    if (error instanceof ExitWith) return error.status;
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_DONE : EXIT_WRONG_INPUT;
    if (isInputError(error)) {
      io.stderr.write(`${TOOL_NAME}: ${error.message}\n`);
      return EXIT_WRONG_INPUT;
    }
    io.stderr.write(`${TOOL_NAME}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT_FAULT;
  }
}

/** Makes commander throw instead of ending the process, and write to `io`, in every subcommand. */
function settle(command: Command, io: CommandIo): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
  });
  for (const subcommand of command.commands) settle(subcommand, io);
}
