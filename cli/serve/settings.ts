/** A command's flags from the environment. A flag on the command line precedes its variable, which precedes the default. */

import type { Command, Option } from 'commander';
import { InputError } from '../../abr/errors.ts';

export interface EnvironmentOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** `LEO_ABR_SERVE_`: the variable of `--port` is `LEO_ABR_SERVE_PORT`. */
  prefix: string;
  /** Names of flags that have no variable. */
  except: readonly string[];
}

/** Sets flags from their variables. The result names the variable in an `InputError` of a flag. */
export function takeEnvironment(
  command: Command,
  { env, prefix, except }: EnvironmentOptions,
): (error: unknown) => unknown {
  const options = command.options.filter((option) => !except.includes(option.name()));
  const variables = new Map<string, string>();
  for (const [variable, text = ''] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || text === '') continue;
    const name = variable.slice(prefix.length).toLowerCase().replaceAll('_', '-');
    const option = options.find((one) => one.name() === name);
    if (option === undefined) {
      throw new InputError(variable, `one of ${options.map((one) => one.name()).join(', ')}`, name);
    }
    const value = valueFor(option, text, variable);
    if (command.getOptionValueSource(option.attributeName()) === 'cli') continue;
    command.setOptionValueWithSource(option.attributeName(), value, 'env');
    variables.set(option.long!, variable);
  }
  return (error) => {
    if (!(error instanceof InputError)) return error;
    const [flag = ''] = /--[a-z-]+/.exec(error.field) ?? [];
    error.message = error.message.replace(flag, variables.get(flag) ?? flag);
    return error;
  };
}

/** As the command line would give it. Lists are separated by commas or spaces. */
function valueFor({ defaultValue, required }: Option, text: string, variable: string): unknown {
  if (Array.isArray(defaultValue)) return text.split(/[\s,]+/);
  if (required) return text;
  if (text === 'true') return true;
  if (text === 'false') return undefined;
  throw new InputError(variable, 'true or false', text);
}
