/** Polls the origin: reports its loss before the buffers run empty, and reloads the page once it is back. */

import type { Notices } from '../notices.ts';
import { OriginClient } from './origin-client.ts';

const PERIOD_MS = 3000;

export class OriginWatch {
  readonly #origin: OriginClient;
  readonly #notices: Notices;
  #isLost = false;

  constructor(origin: OriginClient, notices: Notices) {
    this.#origin = origin;
    this.#notices = notices;
    setInterval(() => void this.look(), PERIOD_MS);
  }

  /** Checks at once instead of at the next period. */
  async look(): Promise<void> {
    if (!this.#isLost) {
      if (!(await this.#origin.isAlive())) this.lost();
      return;
    }
    try {
      // A restarted origin has another address. The page's address keeps the choice.
      const origin = await OriginClient.find();
      if (await origin.isAlive()) location.reload();
    } catch {
      // The origin is still gone: try again at the next period.
    }
  }

  lost(): void {
    this.#isLost = true;
    this.#notices.show('origin', {
      kind: 'error',
      text:
        `The origin at ${this.#origin.url} no longer answers, so players can download nothing. ` +
        'Run npm start again: the page then reloads and the players start over.',
      action: { label: 'Reload', run: () => location.reload() },
    });
  }
}
