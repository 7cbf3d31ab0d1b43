/**
 * A Chromium over the pipe of its DevTools protocol, for scripts/bench-demo-page.js and scripts/demo-page-heap.js, with nothing
 * switched on but what is asked for. Playwright has it keep every response for the inspector: of segments of 15 MB that is most
 * of what would be measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Ends with close(); send() rejects with what the browser says is wrong. */
export async function launch({ executablePath, args, env, width, height }) {
  const profile = mkdtempSync(join(tmpdir(), 'leo-abr-bench-'));
  const flags = [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    `--window-size=${width},${height}`,
  ];
  const child = spawn(executablePath, [...args, ...flags, 'about:blank'], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [, , , requests, answers] = child.stdio;
  const waiting = new Map();
  const failAll = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.once('error', failAll);
  child.once('exit', (code, signal) => failAll(new Error(`Chromium ended with ${signal ?? code}`)));
  requests.on('error', failAll);

  let parts = [];
  answers.setEncoding('utf8');
  answers.on('data', (chunk) => {
    const messages = chunk.split('\0');
    for (const message of messages.slice(0, -1)) {
      receive(JSON.parse(parts.join('') + message));
      parts = [];
    }
    parts.push(messages.at(-1));
  });
  const listeners = new Set();
  const receive = ({ id, result, error, method, params, sessionId }) => {
    if (id === undefined) {
      for (const one of listeners) if (one.method === method && one.sessionId === sessionId) one.listener(params);
      return;
    }
    const call = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) call?.reject(new Error(`${call.method}: ${error.message}`));
    else call?.resolve(result);
  };

  let calls = 0;
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      const id = ++calls;
      waiting.set(id, { method, resolve, reject });
      requests.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });

  return {
    send,
    /** The page that it begins with: commands to it, its events, and what an expression is there. */
    async page() {
      const { targetInfos } = await send('Target.getTargets');
      const { targetId } = targetInfos.find(({ type }) => type === 'page');
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      const sendToPage = (method, params) => send(method, params, sessionId);
      return {
        send: sendToPage,
        /** Returns what ends the listening. */
        on(method, listener) {
          const one = { method, sessionId, listener };
          listeners.add(one);
          return () => listeners.delete(one);
        },
        async evaluate(expression) {
          const { result, exceptionDetails: fault } = await sendToPage('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
          });
          if (fault !== undefined) throw new Error(`${expression}: ${fault.exception?.description ?? fault.text}`);
          return result.value;
        },
      };
    },
    async close() {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill();
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
