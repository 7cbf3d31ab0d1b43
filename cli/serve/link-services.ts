/** Starts and ends prediction services on a demo session's link: `POST` and `DELETE` of `/link-service/<session>`. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReplaySession } from '../../replay/origin/index.ts';
import type { RunningService } from '../../service/index.ts';
import { TOOL_VERSION } from '../tool.ts';
import { dishOf } from './serve-simulated.ts';

const PATH = /^\/link-service\/(\w+)$/;
/** The limit is above the players of two pages. If a page asks for more services, the oldest service stops. */
const MOST_SERVICES = 8;

export class LinkServices {
  /** Services by the session's id, in the order of their starts. */
  private readonly _services = new Map<string, Promise<RunningService>>();

  constructor(private readonly _session: (id: string) => ReplaySession | undefined) {}

  /** Responds to a request of `PATH`. Returns false for other requests. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const id = PATH.exec(request.url ?? '')?.[1];
    if (id === undefined) return false;
    void this._answer(id, request.method).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(body));
    });
    return true;
  }

  async close(): Promise<void> {
    await Promise.all([...this._services.keys()].map((id) => this._stop(id)));
  }

  private async _answer(id: string, method = ''): Promise<[status: number, body: object]> {
    if (method === 'DELETE') {
      await this._stop(id);
      return [200, { url: '' }];
    }
    if (method !== 'POST') return [405, { error: `expected POST or DELETE, got ${method}` }];
    const session = this._session(id);
    if (session === undefined) return [404, { error: `no session "${id}"` }];
    try {
      return [201, { url: (await this._start(id, session)).url }];
    } catch (error) {
      this._services.delete(id);
      return [500, { error: (error as Error).message }];
    }
  }

  private _start(id: string, session: ReplaySession): Promise<RunningService> {
    const known = this._services.get(id);
    if (known !== undefined) return known;
    const ids = [...this._services.keys()];
    const gone = ids.filter((one) => this._session(one) === undefined);
    const unneeded = gone.length === 0 && ids.length >= MOST_SERVICES ? ids.slice(0, 1) : gone;
    for (const one of unneeded) void this._stop(one);
    const started = serviceOn(session);
    this._services.set(id, started);
    return started;
  }

  private async _stop(id: string): Promise<void> {
    const started = this._services.get(id);
    this._services.delete(id);
    await started?.then((running) => running.close()).catch(() => {});
  }
}

/** The service has the session's clocks, which wait for the link, so it sees each second when the player does. */
export async function serviceOn(session: ReplaySession): Promise<RunningService> {
  // The import is here, so that the demo starts without the service.
  const { startService } = await import('../../service/index.ts');
  return startService({
    version: TOOL_VERSION,
    port: 0,
    dish: await dishOf(session.spec.trace, session.publishedLink),
    clock: { utcMs: () => Math.round(session.utcMs), monotonicMs: () => session.nowSeconds * 1000 },
  });
}
