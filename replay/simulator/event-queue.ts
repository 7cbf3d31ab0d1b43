/** Events in seconds of one clock. At the same second, the event that was added first comes first. */

export interface QueuedEvent {
  atSeconds: number;
  action: () => void;
}

export class EventQueue {
  nowSeconds = 0;
  /** In reverse order: the next event is last. */
  readonly #events: QueuedEvent[] = [];
  /** Actions that run after the present event. */
  #soon: (() => void)[] = [];

  /** Runs `action` at a second that is not before now; `Infinity` for never. */
  at(atSeconds: number, action: () => void): QueuedEvent {
    const event = { atSeconds, action };
    let i = this.#events.length;
    while (i > 0 && this.#events[i - 1]!.atSeconds <= atSeconds) i--;
    this.#events.splice(i, 0, event);
    return event;
  }

  soon(action: () => void): void {
    this.#soon.push(action);
  }

  /** An event that has happened may be cancelled, too. */
  cancel(event: QueuedEvent | undefined): void {
    const i = event === undefined ? -1 : this.#events.indexOf(event);
    if (i >= 0) this.#events.splice(i, 1);
  }

  /** `Infinity` if nothing will happen. */
  get nextSeconds(): number {
    return this.#events.at(-1)?.atSeconds ?? Number.POSITIVE_INFINITY;
  }

  runNext(): void {
    const { atSeconds, action } = this.#events.pop()!;
    this.nowSeconds = Math.max(this.nowSeconds, atSeconds);
    action();
    while (this.#soon.length > 0) {
      const due = this.#soon;
      this.#soon = [];
      for (const one of due) one();
    }
  }
}
