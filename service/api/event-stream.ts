/**
 * Sends server-sent events to many subscribers. Each has a cursor into the event log instead of a queue, so that slow
 * readers cost no memory. A reader that stalls too long or falls behind the log is disconnected; it may reconnect with
 * its last id. Events are written to a few subscribers at a time, so that requests are answered in between.
 */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { EventLog } from './event-log.ts';

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

interface Connection extends Subscriber {
  /** Monotonic ms at which the socket's buffer filled; undefined while it accepts data. */
  stalledSinceMs: number | undefined;
}

/** Subscribers per slice, and the pause between slices: 500 subscribers are served within 50 ms. */
const SLICE = 25;
const SLICE_PAUSE_MS = 2;
/** A reader whose buffer stays full for this long is disconnected. */
const STALL_MS = 20_000;

export class EventStream {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #connections = new Map<Socket, Connection>();
  /** Connections that still have to be served. */
  #round: Connection[] = [];
  #isScheduled = false;
  /** Readers disconnected so far because they were too slow. */
  slowReaders = 0;

  constructor(log: EventLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Streams of one address. */
  sizeOf(address: string): number {
    return [...this.#connections.values()].filter((connection) => connection.address === address).length;
  }

  /** Whether the socket has a stream. Responses queued behind it would never be sent. */
  has(socket: Socket): boolean {
    return this.#connections.has(socket);
  }

  /** Takes over a response whose head has been written, and sends `opening` first. */
  add(subscriber: Subscriber, opening: string): void {
    const connection: Connection = { ...subscriber, stalledSinceMs: undefined };
    const { response, socket } = subscriber;
    if (socket.destroyed) return;
    this.#connections.set(socket, connection);
    socket.on('close', () => this.#connections.delete(socket));
    response.on('error', () => socket.destroy());
    response.on('drain', () => {
      connection.stalledSinceMs = undefined;
      this.#pump(connection);
    });
    response.write(opening);
    this.#pump(connection);
  }

  publish(type: string, data: unknown): void {
    this.#log.append(type, data);
    this.#round = [...this.#connections.values()];
    this.#schedule();
  }

  /** Writes comments, which reveal half-open connections and keep proxies alive. Call it every few seconds. */
  heartbeat(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const connection of this.#connections.values()) {
      if (connection.stalledSinceMs === undefined) this.#write(connection, ': \n\n');
      else if (nowMs - connection.stalledSinceMs > STALL_MS) this.#disconnect(connection);
    }
  }

  close(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
    this.#connections.clear();
    this.#round = [];
  }

  #schedule(pauseMs = 0): void {
    if (this.#isScheduled || this.#round.length === 0) return;
    this.#isScheduled = true;
    const writeSlice = () => {
      this.#isScheduled = false;
      for (const connection of this.#round.splice(-SLICE)) this.#pump(connection);
      this.#schedule(SLICE_PAUSE_MS);
    };
    if (pauseMs > 0) setTimeout(writeSlice, pauseMs);
    else setImmediate(writeSlice);
  }

  /** Writes pending events until the socket's buffer is full. */
  #pump(connection: Connection): void {
    if (connection.next < this.#log.oldest) {
      this.#disconnect(connection);
      return;
    }
    while (connection.stalledSinceMs === undefined && connection.next < this.#log.next) {
      const event = this.#log.at(connection.next++)!;
      if (connection.types !== undefined && !connection.types.has(event.type)) continue;
      this.#write(connection, event.frame);
    }
  }

  #write(connection: Connection, chunk: Buffer | string): void {
    if (connection.socket.destroyed) return;
    if (!connection.response.write(chunk)) connection.stalledSinceMs = this.#clock.monotonicMs();
  }

  #disconnect(connection: Connection): void {
    this.slowReaders++;
    this.#connections.delete(connection.socket);
    connection.socket.destroy();
  }
}
