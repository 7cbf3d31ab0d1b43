/**
 * `leo-abr trace record --active`: measures the link by downloads while nobody uses it. A client of the prediction
 * service, whose events show players, the dish's usage and triggers; `scavenger.ts` decides.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { EventParser } from '../../predictor/service-client/event-parser.ts';
import { writeTrace } from '../../replay/formats/trace-files.ts';
import { writeFileAtomically } from '../../replay/formats/write-file.ts';
import type { Clock, StateReply } from '../../service/index.ts';
import { decimalNumber } from '../options.ts';
import { readJson, requireWritableFolder } from '../results-file.ts';
import { tokenOption } from '../serve-options.ts';
import { download, Measurement } from './measurement.ts';
import { dayOf, type EndCause, Scavenger, type UsedBytes } from './scavenger.ts';
import { Tally } from './tally.ts';

export interface ActiveFlags {
  active?: string;
  service?: string;
  tokenFile?: string;
  trigger?: string;
  schedule?: string;
  seconds?: string;
  budgetMbPerDay?: string;
}

interface Settings {
  url: URL;
  /** Without a trailing slash. */
  service: string;
  token: string | undefined;
  triggers: readonly string[];
  scheduleSeconds: number | undefined;
  measureSeconds: number;
  budgetBytes: number;
}

export interface Surroundings {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** Calls `act` every `ms`; the result ends that. */
  every(ms: number, act: () => void): () => void;
  /** Resolves when the user ends the command. */
  interrupted: Promise<void>;
  /** Receives lines for the user. */
  note(line: string): void;
}

const TICK_MS = 100;
const RETRY_MS = 2000;
/** The service sends something at least every 15 s. */
const SILENCE_MS = 40_000;
const LOCK_TOUCH_MS = 10_000;
/** What was downloaded today, in the folder of the measurements. */
const USED_FILE = 'active.json';
const REFUSALS = [400, 401, 403, 404];
/** A dish that shows no usage for this long is reported. */
const DISH_SILENCE_MS = 60_000;

/** Measures until it is interrupted; the measurements are traces in `directory`. */
export async function measureActively(
  flags: ActiveFlags,
  { directory, ...surroundings }: Surroundings & { directory: string },
): Promise<void> {
  const { BUILT_IN_TRIGGERS, lockFolder } = await import('../../service/index.ts');
  const settings = settingsOf(
    flags,
    BUILT_IN_TRIGGERS.map(({ name }) => name),
  );
  requireWritableFolder(directory);
  const lock = await lockFolder(directory);
  const { every, interrupted, note } = surroundings;
  try {
    const place = await placeOfService(settings, surroundings);
    const active = new ActiveMeasurements(settings, { ...surroundings, directory, place });
    const megabytes = settings.budgetBytes / 1e6;
    note(`measuring by downloads from ${settings.url.host} while nobody uses the link, at most ${megabytes} MB a day`);
    const timers = [every(TICK_MS, () => active.tick()), every(LOCK_TOUCH_MS, () => void lock.touch().catch(() => {}))];
    try {
      await Promise.race([interrupted, active.failed]);
    } finally {
      for (const end of timers) end();
      active.close();
    }
  } finally {
    await lock.release();
  }
}

function settingsOf(flags: ActiveFlags, known: readonly string[]): Settings {
  const { trigger = 'latency-spike,handover,obstruction', schedule, seconds = '35', budgetMbPerDay = '2000' } = flags;
  const above0 = (text: string, flag: string, what: string) =>
    decimalNumber(text, flag, { expected: `${what} above 0`, holds: (value) => value > 0 });
  const triggers = trigger === 'none' ? [] : trigger.split(',');
  if (!triggers.every((name) => known.includes(name))) {
    throw new InputError('--trigger', `some of ${known.join(', ')} with commas between them, or none`, trigger);
  }
  if (triggers.length === 0 && schedule === undefined) {
    throw new InputError('--trigger', 'a trigger if there is no --schedule', trigger);
  }
  return {
    url: webAddress(flags.active!, '--active'),
    service: webAddress(flags.service ?? 'http://127.0.0.1:8790', '--service').href.replace(/\/$/, ''),
    token: flags.tokenFile === undefined ? undefined : tokenOption(flags.tokenFile),
    triggers,
    scheduleSeconds: schedule === undefined ? undefined : above0(schedule, '--schedule', 'a number of seconds'),
    measureSeconds: above0(seconds, '--seconds', 'a number of seconds'),
    budgetBytes: above0(budgetMbPerDay, '--budget-mb-per-day', 'a number of MB') * 1e6,
  };
}

function webAddress(text: string, flag: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const expected = 'an http or https address without name and password';
  // Not quoted, because of the password.
  if (url && url.username + url.password !== '') throw new InputError(flag, expected, undefined, 'one with them');
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new InputError(flag, expected, text);
}

type Connected = Pick<Surroundings, 'fetch'> & { signal?: AbortSignal };

async function ask({ service, token }: Settings, path: string, { fetch, ...init }: Connected): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${service}${path}`, { headers, ...init });
  if (response.ok) return response;
  await response.body?.cancel();
  const got = `status ${response.status} of ${service}${path}`;
  if (REFUSALS.includes(response.status))
    throw new InputError('--service', 'access to a leo-abr serve of this version', undefined, got);
  throw new Error(got);
}

/** Where the dish is. @throws {InputError} without a service that watches a dish */
async function placeOfService(settings: Settings, connected: Connected): Promise<string> {
  const expected = 'a running leo-abr serve --dish, which shows when somebody uses the link';
  let state: StateReply;
  try {
    state = (await (await ask(settings, '/v1/state', connected)).json()) as StateReply;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError('--service', expected, undefined, `${settings.service}: ${messageOf(error)}`);
  }
  const { dish, location } = state;
  if ((dish?.state ?? 'unused') === 'unused') {
    throw new InputError('--service', expected, undefined, `${settings.service} without a dish`);
  }
  return location === undefined ? 'unknown place' : `${location.latitudeDegrees}, ${location.longitudeDegrees}`;
}

type Fault = 'service' | 'dish' | 'download';

class ActiveMeasurements {
  readonly #settings: Settings;
  readonly #options: Surroundings & { directory: string; place: string };
  readonly #scavenger: Scavenger;
  #now: { measurement: Measurement; abort: AbortController; beganMs: number } | undefined;
  #events: AbortController | undefined;
  #isClosed = false;
  #heardMs = Number.NEGATIVE_INFINITY;
  #retryMs = Number.NEGATIVE_INFINITY;
  /** Faults that the user knows. */
  readonly #told = new Set<Fault>();
  #day: string;
  #ofDay: Tally;
  readonly #total: Tally;
  #fail!: (error: unknown) => void;
  /** Rejects if measuring makes no sense any more. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(settings: Settings, options: Surroundings & { directory: string; place: string }) {
    const { clock } = options;
    this.#settings = settings;
    this.#options = options;
    this.#day = dayOf(clock);
    this.#ofDay = new Tally(clock);
    this.#total = new Tally(clock);
    this.#scavenger = new Scavenger({
      ...settings,
      clock,
      used: this.#readUsed(),
      begin: (reason) => this.#begin(reason),
      end: (cause, reactionMs) => this.#end(cause, reactionMs),
    });
  }

  tick(): void {
    this.#guarded(() => {
      const { clock, note } = this.#options;
      const nowMs = clock.monotonicMs();
      if (this.#events === undefined && nowMs >= this.#retryMs) void this.#follow();
      else if (nowMs - this.#heardMs > SILENCE_MS) this.#events?.abort(new Error('it is silent'));
      this.#scavenger.tick();
      if (this.#scavenger.silentMs > DISH_SILENCE_MS && !this.#told.has('service')) {
        this.#tell('dish', 'nothing is measured: the service has no usage of the dish');
      }
      if (this.#scavenger.used.day === this.#day) return;
      note(this.#ofDay.line(this.#day));
      this.#day = this.#scavenger.used.day;
      this.#ofDay = new Tally(clock);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#events?.abort();
    this.#scavenger.stop();
    this.#options.note(this.#total.line('in all'));
  }

  /** Reads events until the service is lost. */
  async #follow(): Promise<void> {
    const { clock, fetch } = this.#options;
    this.#events = new AbortController();
    this.#heardMs = clock.monotonicMs();
    try {
      const { signal } = this.#events;
      const { body } = await ask(this.#settings, '/v1/events?types=traffic,trigger,clock', { fetch, signal });
      const parser = new EventParser();
      const decoder = new TextDecoder();
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        this.#heardMs = clock.monotonicMs();
        for (const { type, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
          this.#guarded(() => this.#take(type, JSON.parse(data)));
        }
      }
      throw new Error('the event stream has ended');
    } catch (error) {
      if (!this.#isClosed) this.#guarded(() => this.#lost(error));
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: its type depends on the event.
  #take(type: string, data: any): void {
    if (type === 'traffic') {
      this.#told.delete('service');
      if (data.second?.downlinkUsageBps !== undefined) this.#told.delete('dish');
      this.#scavenger.traffic(data);
    } else if (type === 'trigger') this.#scavenger.trigger(data);
    else if (type === 'clock') this.#scavenger.lost();
  }

  #lost(error: unknown): void {
    this.#scavenger.lost();
    this.#events = undefined;
    this.#retryMs = this.#options.clock.monotonicMs() + RETRY_MS;
    if (error instanceof InputError) throw error;
    this.#tell('service', `nothing is measured until the service is back: ${messageOf(error)}`);
  }

  #begin(reason: string): void {
    const { clock } = this.#options;
    const measurement = new Measurement(reason, clock);
    const abort = new AbortController();
    this.#now = { measurement, abort, beganMs: clock.monotonicMs() };
    // A crash must not exceed the budget: until the end, all of it counts as used.
    this.#writeUsed({ ...this.#scavenger.used, bytes: this.#settings.budgetBytes });
    void this.#download(measurement, abort);
  }

  async #download(measurement: Measurement, abort: AbortController): Promise<void> {
    const { fetch } = this.#options;
    const onBytes = (bytes: number) => {
      if (abort.signal.aborted) return;
      this.#told.delete('download');
      measurement.received(bytes);
      this.#scavenger.received(bytes);
    };
    try {
      await download({ url: this.#settings.url, fetch, signal: abort.signal, onBytes });
    } catch (error) {
      if (abort.signal.aborted) return;
      this.#guarded(() => {
        this.#scavenger.stop();
        if (error instanceof InputError) throw error;
        this.#tell('download', `${this.#settings.url.host}: ${messageOf(error)}`);
      });
    }
  }

  #end(cause: EndCause, reactionMs: number): void {
    const { measurement, abort, beganMs } = this.#now!;
    abort.abort();
    const { clock, directory, place } = this.#options;
    const seconds = (clock.monotonicMs() - beganMs) / 1000;
    for (const tally of [this.#ofDay, this.#total]) tally.add({ measurement, seconds, cause, reactionMs });
    this.#writeUsed(this.#scavenger.used);
    const source = `leo-abr trace record --active: downloads from ${this.#settings.url.host}`;
    if (cause === 'complete' && measurement.bytes === 0) {
      this.#tell('download', `${this.#settings.url.host}: no byte within ${seconds.toFixed(0)} s`);
    }
    const trace = measurement.trace({ place, source });
    if (trace !== undefined) writeTrace(trace, directory);
  }

  #tell(what: Fault, line: string): void {
    if (!this.#told.has(what)) this.#options.note(line);
    this.#told.add(what);
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(error);
    }
  }

  #readUsed(): UsedBytes {
    const { clock, directory } = this.#options;
    const file = join(directory, USED_FILE);
    if (!existsSync(file)) return { day: dayOf(clock), bytes: 0 };
    const used = readJson(file, '--out') as Partial<UsedBytes> | null;
    if (typeof used?.day === 'string' && typeof used.bytes === 'number') return { day: used.day, bytes: used.bytes };
    throw new InputError(file, 'the fields day and bytes', used);
  }

  #writeUsed(used: UsedBytes): void {
    writeFileAtomically(join(this.#options.directory, USED_FILE), `${JSON.stringify(used)}\n`);
  }
}

/** Errors of `fetch` have the reason in their cause. */
function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException;
  return [message, code ?? reason].filter((part) => part !== undefined).join(': ');
}
