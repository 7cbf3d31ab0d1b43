/** Events in seconds of one clock. At the same second, the event that was added first comes first. */

export interface QueuedEvent {
  atSeconds: number;
  action: () => void;
}

export class EventQueue {
  nowSeconds = 0;
  /** In reverse order: the next event is last. */
  private readonly _events: QueuedEvent[] = [];
  /** Actions that run after the present event. */
  private _soon: (() => void)[] = [];

  /** Runs `action` at a second that is not before now; `Infinity` for never. */
  at(atSeconds: number, action: () => void): QueuedEvent {
    const event = { atSeconds, action };
    let i = this._events.length;
    while (i > 0 && this._events[i - 1]!.atSeconds <= atSeconds) i--;
    this._events.splice(i, 0, event);
    return event;
  }

  soon(action: () => void): void {
    this._soon.push(action);
  }

  /** An event that has happened may be cancelled, too. */
  cancel(event: QueuedEvent | undefined): void {
    const i = event === undefined ? -1 : this._events.indexOf(event);
    if (i >= 0) this._events.splice(i, 1);
  }

  /** `Infinity` if nothing will happen. */
  get nextSeconds(): number {
    return this._events.at(-1)?.atSeconds ?? Number.POSITIVE_INFINITY;
  }

  runNext(): void {
    const { atSeconds, action } = this._events.pop()!;
    this.nowSeconds = Math.max(this.nowSeconds, atSeconds);
    action();
    while (this._soon.length > 0) {
      const due = this._soon;
      this._soon = [];
      for (const one of due) one();
    }
  }
}
