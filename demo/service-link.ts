/** The prediction services on the replayed links: a forecaster for each player that uses one, and their status. */

import type { Forecaster } from 'leo-abr';
import { createServiceForecaster, type ServiceForecaster } from 'leo-abr/service';
import { isLoopback } from '../predictor/service-client/needs-tls.ts';
import { byId, setText } from './dom.ts';
import { serviceStatus } from './service-status.ts';

const DRAW_MS = 250;

/** Why this page's server cannot run a service; undefined if it can. */
export function serviceProblem({ isWorker }: { isWorker: boolean }): string | undefined {
  if (isWorker)
    return 'A service needs a server, which this page does not have: npx leo-abr-tools serve-demo runs one.';
  if (!isLoopback(location.hostname)) return 'Open this page on the machine that serves it: the service is only there.';
  return undefined;
}

export class ServiceLink {
  #situation = { isChosen: false, hasUser: false };
  #failure: string | undefined;
  #clients: ServiceForecaster[] = [];
  /** Sessions whose links have a service. */
  #links = new Set<string>();
  /** Counts the runs: a service that starts after the end of its run is stopped again. */
  #run = 0;

  constructor() {
    setInterval(() => this.#draw(), DRAW_MS);
    addEventListener('pagehide', () => this.rest());
  }

  /** Begins a run. `hasUser`: some player uses a service. */
  begin(situation: { isChosen: boolean; hasUser: boolean }): void {
    this.rest();
    this.#situation = situation;
    this.#failure = undefined;
    this.#draw();
  }

  /**
   * A forecaster for a player on the link of this session; undefined without a service. It is new in each run, because
   * what a client has learnt about a service is of another replay.
   */
  async forecasterFor(session: { id: string }): Promise<Forecaster | undefined> {
    const url = this.#situation.isChosen ? await this.#startOn(session.id) : undefined;
    if (url === undefined) return undefined;
    const client = createServiceForecaster(url);
    this.#clients.push(client);
    return client;
  }

  /** Closes the connections and stops the services: no player plays any more. */
  rest(): void {
    this.#run++;
    for (const client of this.#clients.splice(0)) client.close();
    for (const id of this.#links) void requestService(id, 'DELETE').catch(() => {});
    this.#links.clear();
  }

  async #startOn(id: string): Promise<string | undefined> {
    const run = this.#run;
    try {
      const { url } = await requestService(id, 'POST');
      if (run === this.#run) {
        this.#links.add(id);
        return url;
      }
      await requestService(id, 'DELETE');
    } catch (error) {
      if (run === this.#run) this.#failure = (error as Error).message;
    }
    return undefined;
  }

  #draw(): void {
    const situation = { ...this.#situation, clients: this.#clients, failure: this.#failure };
    const { label, details } = serviceStatus(situation);
    setText(byId('service-state'), label);
    setText(byId('service-details'), details);
  }
}

/** Starts or stops the service on a session's link (cli/link-services.ts). Throws the server's reason. */
async function requestService(id: string, method: 'POST' | 'DELETE'): Promise<{ url: string }> {
  const response = await fetch(new URL(`link-service/${id}`, document.baseURI), { method, keepalive: true });
  const body = (await response.json()) as { url: string } & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `status ${response.status}`);
  return body;
}
