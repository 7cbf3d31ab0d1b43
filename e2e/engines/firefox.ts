/** A stock Firefox, driven by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which it has without a driver. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as engine from './engine.ts';

export const findFirefox = () => engine.findProgram(process.env['FIREFOX_PATH'] || 'firefox-esr', 'firefox');

/** Preferences beside those that Firefox sets itself under remote control. Media may play without a click (0). */
const PREFERENCES = { 'media.autoplay.default': 0, 'media.autoplay.blocking_policy': 0, 'browser.startup.page': 0 };

type Evaluated =
  | { type: 'success'; result: { value: string } }
  | { type: 'exception'; exceptionDetails: { text: string } };

export async function startFirefox(path: string): Promise<engine.EngineBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'leo-abr-firefox-'));
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref('${name}', ${value});\n`);
  await writeFile(join(profile, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'];
  const program = engine.startProgram(path, args);
  const url = await program.match(/WebDriver BiDi listening on (ws:\S+)/);
  const bidi = await engine.connect(`${url}/session`);
  type BidiSession = { capabilities: { browserVersion: string } };
  const { capabilities } = await bidi.send<BidiSession>('session.new', { capabilities: {} });
  return {
    name: `Firefox ${capabilities.browserVersion}`,
    async newContext() {
      const { userContext } = await bidi.send<{ userContext: string }>('browser.createUserContext');
      return {
        newPage: () => openTab(bidi, userContext),
        close: () => bidi.send('browser.removeUserContext', { userContext }),
      };
    },
    async close() {
      await bidi.send('browser.close').catch(() => {});
      bidi.close();
      await program.end();
      await rm(profile, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function openTab(bidi: engine.Connection, userContext: string): Promise<engine.EnginePage> {
  const { context } = await bidi.send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
  return {
    goto: (url) => bidi.send('browsingContext.navigate', { context, url, wait: 'complete' }),
    reload: () => bidi.send('browsingContext.reload', { context, wait: 'complete' }),
    async evaluate(act, argument) {
      const evaluated = await bidi.send<Evaluated>('script.callFunction', {
        functionDeclaration: engine.inPage(act),
        arguments: [{ type: 'string', value: engine.toText(argument) }],
        target: { context },
        awaitPromise: true,
      });
      if (evaluated.type === 'exception') throw new Error(evaluated.exceptionDetails.text);
      return engine.fromText(evaluated.result.value);
    },
  };
}
