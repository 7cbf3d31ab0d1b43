/** Posts triggers to the URL of the config file. Each trigger is tried at most three times. */

import { setTimeout as pause } from 'node:timers/promises';
import type { Problems } from '../problems.ts';

export interface WebhookOptions {
  url: string;
  problems: Problems;
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Pause between tries. Default 2 s. */
  retryMs?: number;
}

const TIMEOUT_MS = 5000;
const TRIES = 3;
const RETRY_MS = 2000;
const MOST_WAITING = 50;

export class Webhook {
  #waiting = 0;
  #isClosed = false;
  /** Resolves when all triggers have been sent or given up. Never rejects. */
  idle: Promise<void> = Promise.resolve();

  constructor(private readonly options: WebhookOptions) {}

  send(data: unknown): void {
    if (this.#waiting >= MOST_WAITING) {
      this.options.problems.report('webhook', 'dropped', `${MOST_WAITING} triggers wait to be sent`);
      return;
    }
    this.#waiting++;
    this.idle = this.idle.then(() => this.#try(JSON.stringify(data))).finally(() => this.#waiting--);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #try(body: string): Promise<void> {
    const { problems, url, retryMs = RETRY_MS } = this.options;
    for (let tries = 0; tries < TRIES && !this.#isClosed; tries++) {
      if (tries > 0) await pause(retryMs);
      const fault = await this.#post(body);
      if (fault === undefined) {
        for (const code of ['failed', 'dropped']) problems.clear('webhook', code);
        return;
      }
      // Only the host is shown, because the URL may contain a secret.
      problems.report('webhook', 'failed', `${new URL(url).host}: ${fault}`);
    }
  }

  async #post(body: string): Promise<string | undefined> {
    const { url, fetch = globalThis.fetch } = this.options;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        // Triggers go to the configured URL only.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `expected an answer with success, got status ${response.status}`;
    } catch (error) {
      const { message, cause } = error as Error;
      const code = (cause as NodeJS.ErrnoException | undefined)?.code;
      return (code === undefined ? message : `${message} (${code})`).replaceAll(url, 'the address');
    }
  }
}
