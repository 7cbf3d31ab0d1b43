/**
 * Server-sent events to many subscribers. Each has a cursor into the event log and no queue of its own: a reader that is
 * slow costs no memory, is sent on when it has caught up, and is broken off when it takes too long or falls out of the
 * log; it then comes back with its last id. Writing to many is cut into slices, so that requests are answered in between.
 */

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { EventLog } from './event-log.ts';

export interface Subscriber {
  /** Types of event that it wants; undefined: all. */
  types: ReadonlySet<string> | undefined;
  response: ServerResponse;
  /** The stream ends with it: a response that waits behind another one on it is not told of its end. */
  socket: Socket;
  /** Of the client. */
  address: string;
  /** Sequence of the next event that it is sent. */
  next: number;
}

interface Connection extends Subscriber {
  /** Monotonic ms since which the socket has not taken what it was given; undefined while it does. */
  stalledSinceMs: number | undefined;
}

/** Subscribers written to before others get a turn, and how long theirs is: 500 are written to within 50 ms. */
const SLICE = 25;
const SLICE_PAUSE_MS = 2;
/** A reader that takes nothing for so long is broken off. */
const STALL_MS = 20_000;

export class EventStream {
  readonly #log: EventLog;
  readonly #clock: Clock;
  readonly #connections = new Map<Socket, Connection>();
  /** Those still to be written to in this round. */
  #round: Connection[] = [];
  #isScheduled = false;
  /** Broken off because they were too slow. */
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
    let size = 0;
    for (const connection of this.#connections.values()) if (connection.address === address) size++;
    return size;
  }

  /** Whether there is a stream on this socket: whatever comes after it on the same one is never sent. */
  has(socket: Socket): boolean {
    return this.#connections.has(socket);
  }

  /** Takes over a response whose head has been written. `opening` goes first. */
  add(subscriber: Subscriber, opening: string): void {
    const connection: Connection = { ...subscriber, stalledSinceMs: undefined };
    const { response, socket } = subscriber;
    if (socket.destroyed) return;
    this.#connections.set(socket, connection);
    socket.on('close', () => this.#connections.delete(socket));
    // A reset by the peer ends in `close`.
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

  /** Comments keep proxies and half-open connections from looking alive; call every few seconds. */
  heartbeat(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const connection of this.#connections.values()) {
      if (connection.stalledSinceMs === undefined) this.#write(connection, ': \n\n');
      else if (nowMs - connection.stalledSinceMs > STALL_MS) this.#breakOff(connection);
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

  /** Sends what there is, as far as the socket takes it. */
  #pump(connection: Connection): void {
    if (connection.next < this.#log.oldest) {
      this.#breakOff(connection);
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

  #breakOff(connection: Connection): void {
    this.slowReaders++;
    this.#connections.delete(connection.socket);
    connection.socket.destroy();
  }
}
