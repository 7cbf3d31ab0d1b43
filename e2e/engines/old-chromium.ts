/** Chromium 68 and 72, as old as in televisions, driven by the DevTools protocol. Playwright needs newer ones. */

import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import {
  connect,
  type EngineBrowser,
  type EnginePage,
  findProgram,
  fromText,
  inPage,
  startProgram,
  toText,
} from './engine.ts';

/** Where `scripts/old-engines.js` unpacks them. */
export const findOldChromium = (engine: string) =>
  findProgram(fileURLToPath(new URL(`../../build/engines/${engine}`, import.meta.url)));

/** For Chromium 68. */
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

export async function startOldChromium(path: string): Promise<EngineBrowser> {
  const program = startProgram(path, ARGUMENTS);
  const url = await program.match(/DevTools listening on (ws:\S+)/);
  const browser = await connect(url);
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

interface Evaluated {
  result: { value: string };
  exceptionDetails?: { text: string; exception?: { description?: string } };
}

async function openPage(url: string): Promise<EnginePage> {
  const page = await connect(url);
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
        expression: toEs2018(`(${inPage(act)})(${JSON.stringify(toText(argument))})`),
        awaitPromise: true,
        returnByValue: true,
      });
      if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
      return fromText(result.value);
    },
  };
}
