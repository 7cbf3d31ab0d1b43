/** Sends server-sent events to many subscribers. If a reader is too slow, it is disconnected. */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Subscriber {
  /** Event types to send. If it is undefined, all types are sent. */
  types: ReadonlySet<string> | undefined;
  response: ServerResponse;
  /** Its `close` ends the stream, because a response that waits behind another response has no `close` event. */
  socket: Socket;
}

/** If more bytes than this wait for a reader, it is disconnected. */
const MOST_WAITING_BYTES = 2 ** 20;

export class EventStream {
  readonly #subscribers = new Map<Socket, Subscriber>();
  /** Number of the next event, which is its id. */
  #next = 0;
  /** Number of readers that were disconnected because they were too slow. */
  slowReaders = 0;

  get size(): number {
    return this.#subscribers.size;
  }

  /** Takes over a response whose head has been written, and sends `opening` first. */
  add(subscriber: Subscriber, opening: string): void {
    const { response, socket } = subscriber;
    if (socket.destroyed) return;
    this.#subscribers.set(socket, subscriber);
    socket.on('close', () => this.#subscribers.delete(socket));
    response.on('error', () => socket.destroy());
    response.write(opening);
  }

  publish(type: string, data: unknown): void {
    const text = `id: ${this.#next++}\n${eventText(type, data)}`;
    for (const subscriber of this.#subscribers.values()) {
      if (subscriber.types?.has(type) !== false) this.#write(subscriber, text);
    }
  }

  /** Writes comments, which reveal half-open connections and keep proxies from closing. Call it every few seconds. */
  heartbeat(): void {
    for (const subscriber of this.#subscribers.values()) this.#write(subscriber, ': \n\n');
  }

  close(): void {
    for (const socket of this.#subscribers.keys()) socket.destroy();
    this.#subscribers.clear();
  }

  #write({ response, socket }: Subscriber, text: string): void {
    if (socket.destroyed) return;
    response.write(text);
    if (response.writableLength <= MOST_WAITING_BYTES) return;
    this.slowReaders++;
    this.#subscribers.delete(socket);
    socket.destroy();
  }
}

export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
