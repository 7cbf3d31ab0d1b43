/** A user's file instead of an algorithm's name, passed on as the text of one module. Browser-safe. */

import type { Controller } from '../abr/controller.ts';
import { describeValue, InputError } from '../abr/errors.ts';

/** What a file exports as `createController`: called once per session. */
export type CreateController = (options: { seed: number }) => Controller;

export interface OwnAlgorithm {
  name: string;
  /** The file with all its imports, as one ES module. */
  source: string;
}

export type OwnControllers = ReadonlyMap<string, CreateController>;

export function isOwnAlgorithm(controller: string): boolean {
  return controller.includes('/') || /\.(ts|js|mjs)$/.test(controller);
}

/**
 * Rejects with an `InputError` for a module that cannot be loaded or has no `createController`. In Node, `process.exit`
 * throws in these modules, because it would end all sessions, and with the status of success. What they log goes to
 * standard error, because standard output may have the results.
 */
export async function importOwnAlgorithms(algorithms: readonly OwnAlgorithm[]): Promise<OwnControllers> {
  if (algorithms.length > 0) guardProcess();
  return new Map(await Promise.all(algorithms.map(async (one) => [one.name, await importOwn(one)] as const)));
}

let isGuarded = false;

function guardProcess(): void {
  const { process, console: own } = globalThis as Partial<Pick<typeof globalThis, 'process'>> & typeof globalThis;
  if (isGuarded || process === undefined) return;
  isGuarded = true;
  Object.assign(own, { log: own.error, info: own.error, debug: own.error });
  const { exit } = process;
  process.exit = (code) => {
    const error = new Error(`process.exit(${code ?? ''}) in an algorithm`);
    // In stack traces, a user's code has the ending of `bundle-algorithms.ts`. Other code may end the process.
    if (/\?bundled|data:text/.test(error.stack ?? '')) throw error;
    return exit.call(process, code);
  };
}

async function importOwn({ name, source }: OwnAlgorithm): Promise<CreateController> {
  let module: Record<string, unknown>;
  try {
    module = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`);
  } catch (error) {
    throw new InputError(name, 'a module that loads', error, thrown(error));
  }
  const { createController: create } = module;
  if (typeof create !== 'function') {
    const exported = Object.keys(module).join(', ') || 'nothing';
    throw new InputError(name, 'an export createController({ seed })', create, `exports: ${exported}`);
  }
  return (options) => created(name, () => create(options));
}

function created(name: string, create: () => unknown): Controller {
  const expected = 'createController to return { name, decide(state, forecast) }';
  let controller: unknown;
  try {
    controller = create();
  } catch (error) {
    throw new InputError(name, expected, error, thrown(error));
  }
  const { name: own, decide } = (controller ?? {}) as Partial<Controller>;
  if (typeof own === 'string' && typeof decide === 'function') return controller as Controller;
  const keys = typeof controller === 'object' && controller !== null && Object.keys(controller).join(', ');
  throw new InputError(name, expected, controller, keys ? `{ ${keys} }` : describeValue(controller));
}

function thrown(error: unknown): string {
  const where = error instanceof Error && /^ +at .*$/m.exec(error.stack ?? '')?.[0].trim();
  return where ? `${error} ${where}` : String(error);
}
