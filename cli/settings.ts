/**
 * A command's flags from the environment and from a file. A flag on the command line precedes its variable, which
 * precedes the file, which precedes the default.
 */

import type { Command, Option } from 'commander';
import { InputError } from '../abr/errors.ts';

export class Settings {
  readonly #command: Command;
  readonly #options: readonly Option[];
  /** Where values are from, by flag: `LEO_ABR_SERVE_PORT`, `home.json: settings.port`. */
  readonly #places = new Map<string, string>();

  /** `except`: names of flags that have no setting. */
  constructor(command: Command, { except }: { except: readonly string[] }) {
    this.#command = command;
    this.#options = command.options.filter((option) => !except.includes(option.name()));
  }

  /** Takes `LEO_ABR_SERVE_PORT` for `--port`, if that is the prefix. Empty variables count as not set. */
  takeEnvironment(env: Readonly<Record<string, string | undefined>>, prefix: string): void {
    for (const [place, text = ''] of Object.entries(env)) {
      if (!place.startsWith(prefix) || text === '') continue;
      this.#take(place.slice(prefix.length).toLowerCase().replaceAll('_', '-'), text, place);
    }
  }

  /** Takes the fields of `settings`, which are named like flags without dashes in front. */
  takeFile(settings: unknown, file: string): void {
    if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
      throw new InputError(`${file}: settings`, 'an object', settings);
    }
    for (const [name, value] of Object.entries(settings)) this.#take(name, value, `${file}: settings.${name}`);
  }

  /** Names the place of a value, instead of its flag, in the message of an `InputError`. Returns the error. */
  locate(error: unknown): unknown {
    if (!(error instanceof InputError)) return error;
    const [flag = ''] = /--[a-z-]+/.exec(error.field) ?? [];
    error.message = error.message.replace(flag, this.#places.get(flag) ?? flag);
    return error;
  }

  #take(name: string, given: unknown, place: string): void {
    const option = this.#options.find((one) => one.name() === name);
    if (option === undefined) {
      throw new InputError(place, `one of ${this.#options.map((one) => one.name()).join(', ')}`, name);
    }
    const value = valueFor(option, given, place);
    const attribute = option.attributeName();
    if (this.#command.getOptionValueSource(attribute) === 'cli' || this.#places.has(option.long!)) return;
    this.#command.setOptionValueWithSource(attribute, value, 'config');
    this.#places.set(option.long!, place);
  }
}

/** As the command line would give it. Lists may be texts with commas or spaces. */
function valueFor({ defaultValue, required, negate }: Option, given: unknown, place: string): unknown {
  const isText = (one: unknown) => typeof one === 'string' && one !== '';
  if (Array.isArray(defaultValue)) {
    const list = typeof given === 'string' ? given.split(/[\s,]+/) : given;
    if (Array.isArray(list) && list.every(isText)) return list;
    throw new InputError(place, 'a list of texts', given);
  }
  if (required) {
    if (isText(given) || typeof given === 'number') return String(given);
    throw new InputError(place, 'a text or a number', given);
  }
  // `--no-viewer` sets its attribute to false, which is true otherwise.
  if (String(given) === 'true') return !negate;
  if (String(given) === 'false') return negate ? true : undefined;
  throw new InputError(place, 'true or false', given);
}
