/** The prediction services on the replayed links: a forecaster for each player that uses a service, and its state. */

import { createServiceForecaster, type ServiceForecaster, type ServiceForecasterState } from 'leo-abr/service';
import { isLoopback } from '../../predictor/service-client/needs-tls.ts';

/** Returns why this page's server cannot run a service; undefined if it can. */
export function serviceProblem({ isWorker }: { isWorker: boolean }): string | undefined {
  if (isWorker) return 'A service needs a server, which this page lacks: run npx --no leo-abr serve-demo.';
  if (!isLoopback(location.hostname))
    return 'Open this page on the machine that serves it: only there a service can run.';
  return undefined;
}

export class ServiceLink {
  private _clients: ServiceForecaster[] = [];
  private _links = new Set<string>();
  /** Counts the runs: if a service starts after the end of its run, it is stopped again. */
  private _run = 0;

  constructor() {
    addEventListener('pagehide', () => this.rest());
  }

  /** Makes a client for each run, because the knowledge of a client belongs to its replay. */
  async forecasterFor(session: { id: string }): Promise<ServiceForecaster> {
    const run = this._run;
    const { url } = await requestService(session.id, 'POST');
    const client = createServiceForecaster(url);
    if (run === this._run) {
      this._links.add(session.id);
      this._clients.push(client);
    } else await requestService(session.id, 'DELETE');
    return client;
  }

  /** Closes the connections and stops the services. Call it when no player plays any more. */
  rest(): void {
    this._run++;
    for (const client of this._clients.splice(0)) client.close();
    for (const id of this._links) void requestService(id, 'DELETE').catch(() => {});
    this._links.clear();
  }
}

/** Starts or stops the service on a session's link (cli/serve/link-services.ts). Rejects with the server's reason. */
async function requestService(id: string, method: 'POST' | 'DELETE'): Promise<{ url: string }> {
  const response = await fetch(new URL(`link-service/${id}`, document.baseURI), { method, keepalive: true });
  const body = (await response.json()) as { url: string } & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `status ${response.status}`);
  return body;
}

/** Says how MPC-L uses the service. */
export function serviceStatus(state: ServiceForecasterState | undefined, failure?: string): string {
  if (state === undefined) return failure === undefined ? '' : `Not started: ${failure}.`;
  const { connection, detail, verdict, share, ageSeconds } = state;
  if (connection === 'waiting' || connection === 'refused') return `No answer: ${detail ?? 'the connection failed'}.`;
  if (verdict === 'contradicted' || verdict === 'distrusted') return 'Not believed: its forecasts did not come true.';
  if (share < 1) return 'Not used: several players report to the service, which forecasts the whole link.';
  if (ageSeconds === undefined || verdict === 'not-yet') {
    return 'Not used until the service knows this link and agrees with what MPC-L measures.';
  }
  return `Used (newest: ${ageSeconds.toFixed(0)} s old) until MPC-L’s own forecasts know more.`;
}
