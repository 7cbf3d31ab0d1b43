/** `leo-abr fake-dish`: a dish to develop against, for this service or any other client of the dish's gRPC API. */

import { Command } from 'commander';
import { InputError } from '../abr/errors.ts';
import type { CommandIo } from './command-io.ts';
import { addListenOptions, interrupted, listening, locationOption, portOption } from './serve-options.ts';
import { addScriptOptions, dishScript, type ScriptFlags } from './serve-simulated.ts';

const DISH_PORT = 9200;

interface FakeDishFlags extends ScriptFlags {
  host: string;
  port: string;
  location?: string;
}

export function fakeDishCommand(io: CommandIo): Command {
  return addListenOptions(addScriptOptions(new Command('fake-dish')), DISH_PORT)
    .description("a simulated dish that speaks the real one's gRPC API, with reflection")
    .option('--location <lat,lon[,alt]>', 'location that the dish reports, in degrees and metres (default: none)')
    .action((flags: FakeDishFlags) => fakeDish(flags, io));
}

async function fakeDish(flags: FakeDishFlags, io: CommandIo): Promise<void> {
  const { REAL_CLOCK, startFakeDish } = await import('../service/index.ts');
  const script = await dishScript(flags, io);
  const location = flags.location === undefined ? undefined : locationOption(flags.location);
  const options = { clock: REAL_CLOCK, script, location, host: flags.host, port: portOption(flags.port) };
  const dish = await listening(options, async (resolved) => {
    try {
      return await startFakeDish(resolved);
    } catch (error) {
      // gRPC reports a port in use without an error code.
      const got = `${resolved.host} ${resolved.port} (${(error as Error).message})`;
      throw new InputError('--port', 'a free port of this machine', got);
    }
  });
  io.stderr.write(`the simulated dish is at ${dish.address}\n`);
  await interrupted(io);
  dish.close();
}
