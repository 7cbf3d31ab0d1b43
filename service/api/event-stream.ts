/**
 * Sends server-sent events to many subscribers. Each has a cursor into a log of the newest events instead of a queue, so
 * that slow readers cost no memory and a client that reconnects gets those it missed. A reader that falls behind the
 * log is disconnected. An event's id is `<boot>.<sequence>`; the boot changes when the service restarts.
 */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Subscriber {
  /** Event types to send; undefined: all. */
  types: ReadonlySet<string> | undefined;
  response: ServerResponse;
  /** Its `close` ends the stream: a response queued behind another one has no such event. */
  socket: Socket;
  /** The client's address. */
  address: string;
  /** Sequence of the next event to send. */
  next: number;
}

/** Ten minutes of one forecast per second, and as many other events. */
const KEPT = 1200;

export class EventStream {
  readonly #boot: string;
  readonly #kept: number;
  /** The newest events, by their sequence modulo `#kept`. */
  readonly #events: { type: string; text: string }[] = [];
  readonly #connections = new Map<Socket, Subscriber>();
  /** Sequence of the next event. */
  next = 0;
  /** Readers disconnected so far because they were too slow. */
  slowReaders = 0;

  /** `boot`: letters and digits, unique to this start of the service. */
  constructor(boot: string, kept = KEPT) {
    this.#boot = boot;
    this.#kept = kept;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Streams of one address. */
  sizeOf(address: string): number {
    return [...this.#connections.values()].filter((connection) => connection.address === address).length;
  }

  /**
   * The next event for a client whose newest one is `lastId`; without it, the next one at all. `missed`: why events are
   * missing: the id is not of this boot (`restarted`), or they are no longer kept (`gap`).
   */
  resume(lastId = ''): { next: number; missed?: 'restarted' | 'gap' } {
    const { next } = this;
    if (lastId === '') return { next };
    const [boot, digits = ''] = lastId.split('.', 2);
    const sequence = /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
    if (boot !== this.#boot || !(sequence < next)) return { next, missed: 'restarted' };
    return sequence + 1 < this.#oldest ? { next: this.#oldest, missed: 'gap' } : { next: sequence + 1 };
  }

  /** Takes over a response whose head has been written, and sends `opening` first. */
  add(subscriber: Subscriber, opening: string): void {
    const { response, socket } = subscriber;
    if (socket.destroyed) return;
    this.#connections.set(socket, subscriber);
    socket.on('close', () => this.#connections.delete(socket));
    response.on('error', () => socket.destroy());
    response.on('drain', () => this.#pump(subscriber));
    response.write(opening);
    this.#pump(subscriber);
  }

  publish(type: string, data: unknown): void {
    const id = this.next++;
    this.#events[id % this.#kept] = { type, text: `id: ${this.#boot}.${id}\n${eventText(type, data)}` };
    for (const connection of this.#connections.values()) this.#pump(connection);
  }

  /** Writes comments, which reveal half-open connections and keep proxies alive. Call it every few seconds. */
  heartbeat(): void {
    for (const { response } of this.#connections.values()) if (!response.writableNeedDrain) response.write(': \n\n');
  }

  close(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
    this.#connections.clear();
  }

  /** Sequence of the oldest event that is kept. */
  get #oldest(): number {
    return Math.max(0, this.next - this.#kept);
  }

  /** Writes pending events until the socket's buffer is full. */
  #pump(subscriber: Subscriber): void {
    const { response, socket, types } = subscriber;
    if (subscriber.next < this.#oldest) {
      this.slowReaders++;
      this.#connections.delete(socket);
      socket.destroy();
    }
    while (!socket.destroyed && !response.writableNeedDrain && subscriber.next < this.next) {
      const { type, text } = this.#events[subscriber.next++ % this.#kept]!;
      if (types?.has(type) !== false) response.write(text);
    }
  }
}

/** An event without an id, which is not repeated after a reconnect. */
export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
