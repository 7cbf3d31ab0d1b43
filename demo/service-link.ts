/** The page's prediction service: a forecaster for each player that uses it, and its status. */

import type { Forecaster, Observation, SessionContext } from 'leo-abr';
import { createServiceForecaster, type ServiceForecaster } from 'leo-abr/service';
import { isLoopback, needsTls } from '../predictor/service-client/needs-tls.ts';
import { byId, setText } from './dom.ts';
import { LINK_SERVICE, type ServedPlayer, serviceStatus } from './service-status.ts';

const DRAW_MS = 250;

/** Why this page's server cannot run a service on the replayed link; undefined if it can. */
export function linkServiceProblem({ isWorker }: { isWorker: boolean }): string | undefined {
  if (isWorker)
    return 'A service needs a server, which this page does not have: npx leo-abr-tools serve-demo runs one.';
  if (!isLoopback(location.hostname)) return 'Open this page on the machine that serves it: the service is only there.';
  return undefined;
}

export class ServiceLink {
  readonly #state = byId('service-state');
  readonly #details = byId('service-details');
  #service = '';
  #hasUser = false;
  #failure: string | undefined;
  #playing: WatchedForecaster[] = [];
  /** Sessions whose links have a service. */
  #links = new Set<string>();
  /** Counts the runs: a service that starts after the end of its run is stopped again. */
  #run = 0;

  constructor() {
    setInterval(() => this.#draw(), DRAW_MS);
    addEventListener('pagehide', () => this.rest());
  }

  /** Begins a run. `service`: empty for none, `LINK_SERVICE` or an address; `hasUser`: some player uses a service. */
  choose(service: string, hasUser: boolean): void {
    this.rest();
    this.#service = service;
    this.#hasUser = hasUser;
    this.#failure = undefined;
    this.#draw();
  }

  /**
   * A forecaster for a player on the link of this session; undefined without a service. It is new in each run, because
   * what a client has learnt about a service is of another replay.
   */
  async forecasterFor(session: { id: string }): Promise<Forecaster | undefined> {
    const service = this.#service;
    if (service === '' || (service !== LINK_SERVICE && needsTls(service, location.href))) return undefined;
    const url = service === LINK_SERVICE ? await this.#startOn(session.id) : service;
    if (url === undefined) return undefined;
    const forecaster = new WatchedForecaster(createServiceForecaster(url));
    this.#playing.push(forecaster);
    return forecaster;
  }

  /** Closes the connections and stops the services: no player plays any more. */
  rest(): void {
    this.#run++;
    for (const forecaster of this.#playing) forecaster.close();
    this.#playing = [];
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
    const { kind, label, details } = serviceStatus({
      service: this.#service,
      pageUrl: location.href,
      players: this.#playing,
      hasUser: this.#hasUser,
      failure: this.#failure,
    });
    this.#state.dataset['kind'] = kind;
    setText(this.#state, label);
    setText(this.#details, details);
  }
}

/** Starts or stops the service on a session's link (cli/link-services.ts). Throws the server's reason. */
async function requestService(id: string, method: 'POST' | 'DELETE'): Promise<{ url: string }> {
  const response = await fetch(new URL(`link-service/${id}`, document.baseURI), { method, keepalive: true });
  const body = (await response.json()) as { url: string } & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `status ${response.status}`);
  return body;
}

/** The client, and whether its latest forecast was used. */
class WatchedForecaster implements Forecaster, ServedPlayer {
  readonly name = 'service';
  readonly #client: ServiceForecaster;
  isUsed = false;
  fault: string | undefined;

  constructor(client: ServiceForecaster) {
    this.#client = client;
  }

  get state() {
    return this.#client.state;
  }

  start(context: SessionContext): void {
    this.isUsed = false;
    this.fault = undefined;
    this.#client.start(context);
  }

  observe(observation: Observation): void {
    this.#client.observe(observation);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    this.#client.tellTime?.(atSeconds, utcMs, uncertaintySeconds);
  }

  latest(nowSeconds: number) {
    this.isUsed = false;
    try {
      const forecast = this.#client.latest(nowSeconds);
      this.isUsed = forecast !== undefined;
      if (this.isUsed) this.fault = undefined;
      return forecast;
    } catch (error) {
      this.fault = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  close(): void {
    this.#client.close();
  }
}
