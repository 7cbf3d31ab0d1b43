/** WebKitGTK's MiniBrowser on a display of its own, driven by WebKitWebDriver (https://www.w3.org/TR/webdriver2/). */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from '@playwright/test';
import { type EngineBrowser, findProgram, fromText, inPage, startProgram, toText } from './engine.ts';

/** The driver, and the X server without a screen. */
type WebKitPrograms = { driver: string; display: string };

export function findWebKit(): WebKitPrograms | undefined {
  const [driver, display] = [findProgram('WebKitWebDriver'), findProgram('Xvfb')];
  return driver && display ? { driver, display } : undefined;
}

export async function startWebKit({ driver, display }: WebKitPrograms): Promise<EngineBrowser> {
  const screen = startProgram(display, ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp']);
  const number = await screen.match(/^(\d+)\s/m);
  let port: number;
  let program: ReturnType<typeof startProgram>;
  const send = async <Value>(method: string, path: string, body?: object): Promise<Value> => {
    // The driver drops idle connections without notice.
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const signal = path === '/session' ? AbortSignal.timeout(20_000) : null;
    const given = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, given);
    const { value } = (await response.json()) as { value: Value };
    if (response.ok) return value;
    const { error, message } = value as { error: string; message: string };
    throw new Error(`${error}: ${message}`);
  };
  const startDriver = async () => {
    port = await freePort();
    program = startProgram(driver, [`--port=${port}`], { env: { DISPLAY: `:${number}` } });
    // Until the driver listens, connections are refused.
    await expect(() => send('GET', '/status')).toPass({ intervals: [100], timeout: 10_000 });
  };
  const open = () =>
    send<{ sessionId: string; capabilities: { browserVersion: string } }>('POST', '/session', {
      // Scripts may run longer than any test.
      capabilities: { alwaysMatch: { timeouts: { script: 300_000 } } },
    });
  await startDriver();
  // Each session starts a browser. The driver has one session at a time.
  let session = await open();
  let isFresh = true;
  const ofSession = <Value>(method: string, path: string, body?: object) =>
    send<Value>(method, `/session/${session.sessionId}${path}`, body);
  return {
    name: `WebKit ${session.capabilities.browserVersion}`,
    async newContext() {
      // The driver may fail or hang if it starts a browser soon after it ended another.
      if (!isFresh) session = await open().catch(() => program.end().then(startDriver).then(open));
      isFresh = false;
      return {
        newPage: async () => ({
          goto: (url) => ofSession('POST', '/url', { url }),
          reload: () => ofSession('POST', '/refresh', {}),
          async evaluate(act, argument) {
            const script = `const [text, done] = arguments;
              (${inPage(act)})(text).then((result) => done({ result }), (error) => done({ error: String(error) }));`;
            const evaluated = await ofSession<{ result?: string; error?: string }>('POST', '/execute/async', {
              script,
              args: [toText(argument)],
            });
            if (evaluated.error !== undefined) throw new Error(evaluated.error);
            return fromText(evaluated.result!);
          },
        }),
        close: () => ofSession('DELETE', ''),
      };
    },
    async close() {
      if (isFresh) await ofSession('DELETE', '');
      await program.end();
      await screen.end();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
