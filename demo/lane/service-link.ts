/** The prediction services on the replayed links: a forecaster for each player that uses one. */

import { createServiceForecaster, type ServiceForecaster } from 'leo-abr/service';
import { isLoopback } from '../../predictor/service-client/needs-tls.ts';

/** Why this page's server cannot run a service; undefined if it can. */
export function serviceProblem({ isWorker }: { isWorker: boolean }): string | undefined {
  if (isWorker)
    return 'A service needs a server, which this page does not have: npx leo-abr-tools serve-demo runs one.';
  if (!isLoopback(location.hostname)) return 'Open this page on the machine that serves it: the service is only there.';
  return undefined;
}

export class ServiceLink {
  #clients: ServiceForecaster[] = [];
  #links = new Set<string>();
  /** Counts the runs: a service that starts after the end of its run is stopped again. */
  #run = 0;

  constructor() {
    addEventListener('pagehide', () => this.rest());
  }

  /** New in each run, because what a client has learnt about a service is of another replay. */
  async forecasterFor(session: { id: string }): Promise<ServiceForecaster> {
    const run = this.#run;
    const { url } = await requestService(session.id, 'POST');
    const client = createServiceForecaster(url);
    if (run === this.#run) {
      this.#links.add(session.id);
      this.#clients.push(client);
    } else await requestService(session.id, 'DELETE');
    return client;
  }

  /** Closes the connections and stops the services: no player plays any more. */
  rest(): void {
    this.#run++;
    for (const client of this.#clients.splice(0)) client.close();
    for (const id of this.#links) void requestService(id, 'DELETE').catch(() => {});
    this.#links.clear();
  }
}

/** Starts or stops the service on a session's link (cli/serve/link-services.ts). Throws the server's reason. */
async function requestService(id: string, method: 'POST' | 'DELETE'): Promise<{ url: string }> {
  const response = await fetch(new URL(`link-service/${id}`, document.baseURI), { method, keepalive: true });
  const body = (await response.json()) as { url: string } & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `status ${response.status}`);
  return body;
}
