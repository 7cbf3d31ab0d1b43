/**
 * Keeps the newest events, so that a client that reconnects gets those it missed. An event's id is `<boot>.<sequence>`;
 * the boot changes when the service restarts.
 */

export interface LoggedEvent {
  /** From 0, without gaps. */
  sequence: number;
  type: string;
  /** The whole server-sent event: `id:`, `event:`, `data:` and the blank line. */
  frame: Buffer;
}

export interface Resumption {
  /** Sequence of the next event to send. */
  next: number;
  /** Why events are missing. `restarted`: the id is not of this boot. `gap`: they are no longer kept. */
  missed?: 'restarted' | 'gap';
}

/** Ten minutes of one forecast per second, and as many other events. */
const KEPT = 1200;

export class EventLog {
  readonly #boot: string;
  readonly #ring: LoggedEvent[] = [];
  readonly #kept: number;
  #next = 0;

  /** `boot`: letters and digits, unique to this start of the service. */
  constructor(boot: string, kept = KEPT) {
    this.#boot = boot;
    this.#kept = kept;
  }

  /** Sequence of the next event to be appended. */
  get next(): number {
    return this.#next;
  }

  get oldest(): number {
    return Math.max(0, this.#next - this.#kept);
  }

  idOf(sequence: number): string {
    return `${this.#boot}.${sequence}`;
  }

  append(type: string, data: unknown): LoggedEvent {
    const sequence = this.#next++;
    const frame = Buffer.from(`id: ${this.idOf(sequence)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    const event = { sequence, type, frame };
    this.#ring[sequence % this.#kept] = event;
    return event;
  }

  /** Undefined if it is no longer kept or does not exist yet. */
  at(sequence: number): LoggedEvent | undefined {
    return sequence >= this.oldest && sequence < this.#next ? this.#ring[sequence % this.#kept] : undefined;
  }

  /** `lastId`: the newest event that the client has; undefined or empty: none, begin with the next event. */
  resume(lastId: string | undefined): Resumption {
    if (lastId === undefined || lastId === '') return { next: this.#next };
    const [boot, digits = ''] = lastId.split('.', 2);
    const sequence = /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
    if (boot !== this.#boot || !(sequence < this.#next)) return { next: this.#next, missed: 'restarted' };
    if (sequence + 1 < this.oldest) return { next: this.oldest, missed: 'gap' };
    return { next: sequence + 1 };
  }
}
