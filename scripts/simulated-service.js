/**
 * The prediction service in the simulator's time: the real service, and between it and a session what the client does,
 * without its network: reports twice a second, forecasts as they are published, both 20 ms under way, and the gate.
 */

const REPORT_SECONDS = 0.5;
const UNDER_WAY_SECONDS = 0.02;
const STALE_SECONDS = 3;
const TICK_SECONDS = 0.1;

/**
 * A forecaster that takes forecasts from a service.
 *
 * `utcMs`: at second 0 of the session. `dies`: seconds of the session between which there is no service; it comes back
 * without memory. `lie`: what becomes of a forecast before it is heard. `telemetry(atSeconds)`: a second of the dish;
 * undefined where there is none. `forecasters()`: those that a new service asks before its built-in one.
 */
export class SimulatedService {
  name = 'service';
  used = 0;
  asked = 0;
  /** Of forecasts that were used, in seconds. */
  ages = 0;
  #sources;
  #options;
  #gate;
  #nowSeconds = 0;
  #ticks = 0;
  #service;
  #waiting = [];
  /** On their way: what happens when. */
  #underWay = [];
  #newest;
  #experienceSeconds;

  constructor(sources, options) {
    this.#sources = sources;
    this.#options = { telemetry: () => ({ dropRate: 0 }), lie: (forecast) => forecast, ...options };
    this.#gate = new sources.ForecastGate({ staleSeconds: STALE_SECONDS });
    this.#begin();
  }

  start() {}

  observe(observation) {
    if (observation.kind === 'throughput') {
      this.#gate.observe(observation.startSeconds, observation.endSeconds, observation.bits);
    }
    this.#waiting.push(observation);
  }

  latest(nowSeconds) {
    this.#advance(nowSeconds);
    const newest = this.#newest;
    this.asked++;
    if (newest === undefined || !this.#gate.admits(newest, nowSeconds, this.#experienceSeconds)) return undefined;
    this.used++;
    this.ages += nowSeconds - newest.issuedAtMs / 1000;
    return newest;
  }

  #begin() {
    const { utcMs, forecasters } = this.#options;
    const clock = {
      utcMs: () => utcMs + this.#nowSeconds * 1000,
      monotonicMs: () => this.#nowSeconds * 1000,
    };
    const service = new this.#sources.PredictionService({ clock, version: '0', forecasters: forecasters?.() });
    service.listen({
      event: (type, reply) => {
        if (type === 'forecast') this.#send(reply);
      },
    });
    this.#service = service;
  }

  #advance(untilSeconds) {
    const { dies, utcMs, telemetry } = this.#options;
    for (; this.#ticks * TICK_SECONDS <= untilSeconds; this.#ticks++) {
      this.#nowSeconds = this.#ticks * TICK_SECONDS;
      const now = this.#nowSeconds;
      const isDead = dies !== undefined && now >= dies.fromSeconds && now < dies.untilSeconds;
      if (isDead) this.#service = undefined;
      else if (this.#service === undefined) this.#begin();
      for (const { act } of this.#underWay.filter(({ atSeconds }) => atSeconds <= now)) act();
      this.#underWay = this.#underWay.filter(({ atSeconds }) => atSeconds > now);
      const service = this.#service;
      if (service === undefined) {
        this.#waiting = [];
        continue;
      }
      service.tick();
      if (isEvery(now, 1)) {
        const second = telemetry(now);
        if (second !== undefined) service.observeTelemetry({ atMs: utcMs + now * 1000, ...second });
      }
      if (isEvery(now, REPORT_SECONDS)) {
        const observations = this.#waiting.splice(0).map((observation) => onTheWire(observation, utcMs));
        this.#later(() => {
          if (this.#service === service) service.observe({ player: 'p', observations });
        });
      }
    }
    this.#nowSeconds = untilSeconds;
  }

  #send({ forecast, observedSeconds }) {
    const { lie, utcMs } = this.#options;
    const onSession = { ...lie(forecast), issuedAtMs: forecast.issuedAtMs - utcMs };
    this.#later(() => {
      this.#newest = onSession;
      this.#experienceSeconds = observedSeconds;
      this.#gate.hear(onSession, this.#nowSeconds);
    });
  }

  #later(act) {
    this.#underWay.push({ atSeconds: this.#nowSeconds + UNDER_WAY_SECONDS, act });
  }
}

function isEvery(nowSeconds, period) {
  const times = nowSeconds / period;
  return Math.abs(times - Math.round(times)) < TICK_SECONDS / period / 2;
}

function onTheWire(observation, utcMs) {
  if (observation.kind === 'request-latency') {
    return {
      kind: observation.kind,
      atMs: utcMs + observation.atSeconds * 1000,
      latencyMs: observation.latencySeconds * 1000,
    };
  }
  const { startSeconds, endSeconds, ...rest } = observation;
  return { ...rest, startMs: utcMs + startSeconds * 1000, endMs: utcMs + endSeconds * 1000 };
}
