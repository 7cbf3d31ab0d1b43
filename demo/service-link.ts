/** The page's connection to a prediction service: a forecaster for each player that uses it, and its status. */

import type { Forecaster, Observation, SessionContext } from 'leo-abr';
import { createServiceForecaster, type ServiceForecaster } from 'leo-abr/service';
import { needsTls } from '../predictor/service-client/needs-tls.ts';
import { byId, setText } from './dom.ts';
import { probeService, type ServiceAnswer, type ServiceProbe } from './service-probe.ts';
import { type ServedPlayer, serviceStatus } from './service-status.ts';

const PROBE_MS = 2000;
const DRAW_MS = 250;

export class ServiceLink {
  readonly #state = byId('service-state');
  readonly #details = byId('service-details');
  #address = '';
  /** By place of the player. Each outlives a session, and so does what its client learned about the service. */
  #forecasters = new Map<number, WatchedForecaster>();
  #playing: readonly WatchedForecaster[] = [];
  #hasUser = false;
  #probe: ServiceProbe | undefined;
  #lastAnswer: ServiceAnswer | undefined;
  #isBack = false;
  #isAsking = false;

  constructor() {
    setInterval(() => void this.#look(), PROBE_MS);
    setInterval(() => this.#draw(), DRAW_MS);
  }

  /** Selects a service, empty for none; `hasUser`: some player uses forecasts of a service. */
  connect(address: string, hasUser: boolean): void {
    this.#hasUser = hasUser;
    if (address !== this.#address) {
      this.rest();
      this.#address = address;
      this.#forecasters.clear();
      this.#probe = undefined;
      this.#lastAnswer = undefined;
      this.#isBack = false;
      this.#isAsking = false;
      void this.#look();
    }
    this.#draw();
  }

  /** The service's forecaster for the player at this place; undefined without a service. */
  forecasterFor(place: number): Forecaster | undefined {
    const address = this.#address;
    if (address === '' || needsTls(address, location.href)) return undefined;
    let forecaster = this.#forecasters.get(place);
    if (forecaster === undefined) {
      // Probe at once when a connection breaks.
      const onState = ({ connection }: { connection: string }) => {
        if (connection === 'waiting') void this.#look();
      };
      forecaster = new WatchedForecaster(createServiceForecaster(address, { onState }));
      this.#forecasters.set(place, forecaster);
    }
    this.#playing = [...new Set([...this.#playing, forecaster])];
    return forecaster;
  }

  /** Closes the connections: no player plays any more. */
  rest(): void {
    for (const forecaster of this.#playing) forecaster.close();
    this.#playing = [];
  }

  async #look(): Promise<void> {
    const address = this.#address;
    if (address === '' || this.#isAsking || needsTls(address, location.href)) return;
    this.#isAsking = true;
    const probe = await probeService(address);
    if (address !== this.#address) return;
    this.#isAsking = false;
    const wasThere = this.#probe?.isThere;
    this.#probe = probe;
    if (probe.isThere) {
      if (wasThere === false) {
        this.#isBack = this.#lastAnswer !== undefined;
        for (const forecaster of this.#playing) forecaster.hurry();
      }
      this.#lastAnswer = probe;
    }
    this.#draw();
  }

  #draw(): void {
    const { kind, label, details } = serviceStatus({
      address: this.#address,
      pageUrl: location.href,
      probe: this.#probe,
      lastAnswer: this.#lastAnswer,
      isBack: this.#isBack,
      players: this.#playing,
      hasUser: this.#hasUser,
    });
    this.#state.dataset['kind'] = kind;
    setText(this.#state, label);
    setText(this.#details, details);
  }
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

  /** The service is back: drop the client's growing retry pause, so that it connects at the next decision. */
  hurry(): void {
    const { connection } = this.#client.state;
    if (connection === 'waiting' || connection === 'refused') this.#client.reconnect();
  }
}
