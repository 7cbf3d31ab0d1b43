/**
 * Drives other engines than today's Chromium by W3C WebDriver or the DevTools protocol, for the playback tests.
 * Playwright drives only its own builds of Firefox and WebKit, and its BiDi needs a newer Firefox than Debian's.
 */

import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';

/** The part of Playwright's `Browser` that the tests use. A context has no storage of other contexts. */
export interface EngineBrowser {
  readonly name: string;
  newContext(): Promise<{ newPage(): Promise<EnginePage>; close(): Promise<void> }>;
  close(): Promise<void>;
}

export interface EnginePage {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Calls a function in the page. Argument and result have JSON's types, `undefined`, NaN and infinities. */
  evaluate(act: (argument: unknown) => unknown, argument?: unknown): Promise<unknown>;
}

/** `toText` and `fromText` also run in the page. JSON has no name for the special values. */
function toText(value: unknown): string {
  return JSON.stringify({ value }, (_, one) => {
    const isNamed = one === undefined || (typeof one === 'number' && !Number.isFinite(one));
    return isNamed ? { special: String(one) } : one;
  });
}

function fromText(text: string): unknown {
  const specials = { undefined, NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, '-Infinity': -Infinity };
  const revived = JSON.parse(text, (_, one) => {
    const isSpecial = typeof one?.special === 'string' && one.special in specials;
    return isSpecial ? specials[one.special as keyof typeof specials] : one;
  });
  return revived.value;
}

/** Makes the text of a function from the argument's text to a promise of the result's text. */
export const inPage = (act: (argument: never) => unknown) =>
  `async (text) => (${toText})(await (${act})((${fromText})(text)))`;
export { fromText, toText };

/** Finds the first of these programs. A name is looked for on the search path, a path as it is. */
export const findProgram = (...names: string[]): string | undefined =>
  names
    .map((name) => spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim())
    .find((path) => path !== '');

export type Connection = Awaited<ReturnType<typeof connect>>;

/** Sends commands of WebDriver BiDi or of the DevTools protocol, which have the same form. */
export async function connect(url: string) {
  const socket = new WebSocket(url);
  const pending = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  const events = new EventTarget();
  let sent = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, message, method } = JSON.parse(String(data));
    if (id === undefined) events.dispatchEvent(new Event(method));
    else if (error === undefined) pending.get(id)?.resolve(result as never);
    else pending.get(id)?.reject(new Error(`${error.message ?? error}: ${message}`));
    pending.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of pending.values()) reject(new Error('the browser has closed the connection'));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)), { once: true });
  });
  const send = <Result>(method: string, params: object = {}) =>
    new Promise<Result>((resolve, reject) => {
      const id = ++sent;
      pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params }));
    });
  const next = (event: string) => new Promise((resolve) => events.addEventListener(event, resolve, { once: true }));
  return { send, next, close: () => socket.close() };
}

/** Starts a program that ends with this process at the latest. */
export function startProgram(path: string, args: string[], { env, ...options }: SpawnOptions = {}) {
  const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'pipe', 'pipe'];
  const child = spawn(path, args, { ...options, stdio, env: { ...process.env, ...env } });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  let said = '';
  // The event comes once no process holds the program's output.
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      process.off('exit', stop);
      resolve();
    }),
  );
  // Xvfb writes the number of its display to file 3.
  const outputs = [child.stdout!, child.stderr!, child.stdio[3] as Readable];
  for (const output of outputs) {
    output.on('data', (bytes) => {
      said = (said + bytes).slice(-10_000);
    });
  }
  return {
    child,
    ended,
    /** Resolves to the first match in the program's output. */
    match: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said);
          if (found) resolve(found[1] ?? found[0]);
        };
        for (const output of outputs) output.on('data', look);
        look();
        child.once('error', reject);
        child.once('close', (code) => reject(new Error(`${path} ended with status ${code}:\n${said}`)));
      }),
    async end() {
      child.kill('SIGTERM');
      const timer = setTimeout(stop, 5000);
      await ended;
      clearTimeout(timer);
    },
  };
}
