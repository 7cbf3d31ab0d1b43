/** Notices that the origin is gone before the buffers are empty, and when it is back. */

import type { Notices } from './notices.ts';
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

  /** Asks now, because something failed. */
  async look(): Promise<void> {
    if (!this.#isLost) {
      if (!(await this.#origin.isAlive())) this.lost();
      return;
    }
    try {
      // A new one has another address. The address bar holds all that was chosen.
      const origin = await OriginClient.find();
      if (await origin.isAlive()) location.reload();
    } catch {
      // Still gone.
    }
  }

  /** Says that the origin does not answer. */
  lost(): void {
    this.#isLost = true;
    this.#notices.show('origin', {
      kind: 'error',
      text:
        `The origin at ${this.#origin.url} no longer answers, so nothing more can be downloaded. ` +
        'Run npm start again; the players start over as soon as it is back.',
      action: { label: 'Reload', run: () => location.reload() },
    });
  }
}
