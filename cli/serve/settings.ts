/** Sets a command's flags from the environment. The order of precedence is command line, variable, default. */

import type { Command, Option } from 'commander';
import { check, InputError } from '../../abr/errors.ts';

interface EnvironmentOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** With the prefix `LEO_ABR_SERVE_`, the variable of `--port` is `LEO_ABR_SERVE_PORT`. */
  prefix: string;
  /** Names of flags that have no variable. */
  except: readonly string[];
}

/** Sets flags from their variables. Returns a function that names the variable in an `InputError` of a flag. */
export function takeEnvironment(command: Command, { env, prefix, except }: EnvironmentOptions) {
  const options = command.options.filter((option) => !except.includes(option.name()));
  const variables = new Map<string, string>();
  for (const [variable, text = ''] of Object.entries(env)) {
    if (!variable.startsWith(prefix) || text === '') continue;
    const name = variable.slice(prefix.length).toLowerCase().replaceAll('_', '-');
    const option = options.find((one) => one.name() === name);
    check(option !== undefined, variable, `one of ${options.map((one) => one.name()).join(', ')}`, name);
    const value = valueFor(option, text, variable);
    if (command.getOptionValueSource(option.attributeName()) === 'cli') continue;
    command.setOptionValueWithSource(option.attributeName(), value, 'env');
    variables.set(option.long!, variable);
  }
  return (error: unknown) => {
    if (!(error instanceof InputError)) return error;
    const [flag = ''] = /--[a-z-]+/.exec(error.field) ?? [];
    error.message = error.message.replace(flag, variables.get(flag) ?? flag);
    return error;
  };
}

/** Converts a text to the value that commander has for the flag. Commas or spaces separate the items of a list. */
function valueFor({ defaultValue, required }: Option, text: string, variable: string): unknown {
  if (Array.isArray(defaultValue)) return text.split(/[\s,]+/);
  if (required) return text;
  check(['true', 'false'].includes(text), variable, 'true or false', text);
  return text === 'true' || undefined;
}
