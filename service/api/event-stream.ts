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
  private readonly _subscribers = new Map<Socket, Subscriber>();
  /** Number of the next event, which is its id. */
  private _next = 0;
  /** Number of readers that were disconnected because they were too slow. */
  slowReaders = 0;

  get size(): number {
    return this._subscribers.size;
  }

  /** Takes over a response whose head has been written, and sends `opening` first. */
  add(subscriber: Subscriber, opening: string): void {
    const { response, socket } = subscriber;
    // A second response would wait until the first one ends.
    if (this._subscribers.has(socket)) socket.destroy();
    if (socket.destroyed) return;
    this._subscribers.set(socket, subscriber);
    socket.on('close', () => this._subscribers.delete(socket));
    response.on('error', () => socket.destroy());
    response.write(opening);
  }

  publish(type: string, data: unknown): void {
    const text = `id: ${this._next++}\n${eventText(type, data)}`;
    for (const subscriber of this._subscribers.values()) {
      if (subscriber.types?.has(type) !== false) this._write(subscriber, text);
    }
  }

  /** Writes comments, which reveal half-open connections and keep proxies from closing. Call it every few seconds. */
  heartbeat(): void {
    for (const subscriber of this._subscribers.values()) this._write(subscriber, ': \n\n');
  }

  close(): void {
    for (const socket of this._subscribers.keys()) socket.destroy();
    this._subscribers.clear();
  }

  private _write({ response, socket }: Subscriber, text: string): void {
    if (socket.destroyed) return;
    response.write(text);
    if (response.writableLength <= MOST_WAITING_BYTES) return;
    this.slowReaders++;
    this._subscribers.delete(socket);
    socket.destroy();
  }
}

export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
