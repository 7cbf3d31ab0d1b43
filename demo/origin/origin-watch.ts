/** Polls the origin. Reports its loss before the buffers run empty, and reloads the page when the origin is back. */

import type { Notices } from '../notices.ts';
import { OriginClient } from './origin-client.ts';

const PERIOD_MS = 3000;

export class OriginWatch {
  private _isLost = false;

  constructor(
    private readonly _origin: OriginClient,
    private readonly _notices: Notices,
  ) {
    setInterval(() => void this.look(), PERIOD_MS);
  }

  /** Checks the origin at once. */
  async look(): Promise<void> {
    if (!this._isLost) {
      if (!(await this._origin.isAlive())) this.lost();
      return;
    }
    try {
      // A restarted origin has another address. The page's address keeps the choice.
      const origin = await OriginClient.find();
      if (await origin.isAlive()) location.reload();
    } catch {
      // The origin is still gone: the next period tries again.
    }
  }

  lost(): void {
    this._isLost = true;
    this._notices.show('origin', {
      kind: 'error',
      text:
        `The origin at ${this._origin.url} no longer answers, so players can download nothing. ` +
        'Run npm start again: the page then reloads and the players start over.',
      action: { label: 'Reload', run: () => location.reload() },
    });
  }
}
