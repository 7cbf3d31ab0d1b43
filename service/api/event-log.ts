/**
 * The newest events under ascending ids, so that a client that comes back gets what it missed. An id is
 * `<boot>.<sequence>`: after a restart of the service the boot differs, and a client knows to begin anew.
 */

export interface LoggedEvent {
  /** From 0, without gaps. */
  sequence: number;
  type: string;
  /** As it goes over the wire: `id:`, `event:`, `data:` and the blank line. */
  frame: Buffer;
}

/** Where a client goes on, and whether it has missed events that are not kept any more. */
export interface Resumption {
  /** Sequence of the next event to send. */
  next: number;
  /** `restarted`: the id is another boot's. `gap`: events between were dropped. */
  missed?: 'restarted' | 'gap';
}

/** Ten minutes of one forecast a second, and as much again for all else. */
const KEPT = 1200;

export class EventLog {
  readonly #boot: string;
  readonly #ring: LoggedEvent[] = [];
  readonly #kept: number;
  #next = 0;

  /** `boot`: letters and digits that differ from one start of the service to the next. */
  constructor(boot: string, kept = KEPT) {
    this.#boot = boot;
    this.#kept = kept;
  }

  /** Sequence that the next event gets. */
  get next(): number {
    return this.#next;
  }

  get oldest(): number {
    return Math.max(0, this.#next - this.#kept);
  }

  idOf(sequence: number): string {
    return `${this.#boot}.${sequence}`;
  }

  /** `data` has to be JSON. */
  append(type: string, data: unknown): LoggedEvent {
    const sequence = this.#next++;
    const frame = Buffer.from(`id: ${this.idOf(sequence)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    const event = { sequence, type, frame };
    this.#ring[sequence % this.#kept] = event;
    return event;
  }

  /** Undefined where it is not kept any more, or not there yet. */
  at(sequence: number): LoggedEvent | undefined {
    return sequence >= this.oldest && sequence < this.#next ? this.#ring[sequence % this.#kept] : undefined;
  }

  /** Where a client whose newest event had the id `lastId` goes on; without one: with what comes next. */
  resume(lastId: string | undefined): Resumption {
    if (lastId === undefined || lastId === '') return { next: this.#next };
    const [boot, digits = ''] = lastId.split('.', 2);
    const sequence = /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
    if (boot !== this.#boot || !(sequence < this.#next)) return { next: this.#next, missed: 'restarted' };
    if (sequence + 1 < this.oldest) return { next: this.oldest, missed: 'gap' };
    return { next: sequence + 1 };
  }
}
