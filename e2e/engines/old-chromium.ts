/** Drives Chromium 68 and 72, which televisions have, by the DevTools protocol. Playwright needs newer versions. */

import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import * as engine from './engine.ts';

/** Finds a browser that `scripts/old-engines.js` has unpacked. */
export const findOldChromium = (name: string) =>
  engine.findProgram(fileURLToPath(new URL(`../../build/engines/${name}`, import.meta.url)));

/** Converts a script to the syntax of Chromium 68. */
export const toEs2018 = (script: string) => transformSync(script, { jsc: { target: 'es2018' }, isModule: false }).code;

const ARGUMENTS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--headless',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--mute-audio',
  '--autoplay-policy=no-user-gesture-required',
  '--remote-debugging-port=0',
];

export async function startOldChromium(path: string): Promise<engine.EngineBrowser> {
  const program = engine.startProgram(path, ARGUMENTS);
  const url = await program.match(/DevTools listening on (ws:\S+)/);
  const browser = await engine.connect(url);
  const { product } = await browser.send<{ product: string }>('Browser.getVersion');
  return {
    name: product,
    async newContext() {
      const context = await browser.send<{ browserContextId: string }>('Target.createBrowserContext');
      return {
        async newPage() {
          const target = { url: 'about:blank', ...context };
          const { targetId } = await browser.send<{ targetId: string }>('Target.createTarget', target);
          return openPage(new URL(`/devtools/page/${targetId}`, url).href);
        },
        close: () => browser.send('Target.disposeBrowserContext', context),
      };
    },
    async close() {
      browser.close();
      await program.end();
    },
  };
}

type Thrown = { text: string; exception?: { description?: string } };
type Evaluated = { result: { value: string }; exceptionDetails?: Thrown };

async function openPage(url: string): Promise<engine.EnginePage> {
  const page = await engine.connect(url);
  await page.send('Page.enable');
  const load = async (method: string, params?: object) => {
    const loaded = page.next('Page.loadEventFired');
    await page.send(method, params);
    await loaded;
  };
  return {
    goto: (url) => load('Page.navigate', { url }),
    reload: () => load('Page.reload'),
    async evaluate(act, argument) {
      const { result, exceptionDetails: thrown } = await page.send<Evaluated>('Runtime.evaluate', {
        expression: toEs2018(`(${engine.inPage(act)})(${JSON.stringify(engine.toText(argument))})`),
        awaitPromise: true,
        returnByValue: true,
      });
      if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
      return engine.fromText(result.value);
    },
  };
}
