/** What the stand-ins for all players share: the stream, its media element, a bus of events, and downloads. */

import type { DecisionEvent, FaultEvent } from './page/event-types.ts';
import type { LeoAbrHandle } from './page/handle.ts';
import type { LeoAbrOptions } from './page/option-types.ts';
import { wait } from './scripted.fixture.ts';

/** On demand: 10 segments of 4 s. */
export const LADDER_BPS = [1e6, 2e6, 4e6];
export const SEGMENTS = 10;
export const SEGMENT_SECONDS = 4;

class FakeMedia extends EventTarget {
  currentTime = 0;
  playbackRate = 1;
  defaultPlaybackRate = 1;
  paused = false;
  autoplay = false;
  played = { length: 0 };
  buffered = ranges([]);
  textTracks = [];
  readyState = 4;

  emit(type: string): void {
    this.dispatchEvent(new Event(type));
  }
}

/** A request for a segment that the player has sent. */
export interface Sent {
  /** The headers are here; only where the player tells that. */
  responded?(bits: number): void;
  arrived(bits: number): void;
  completed(bits: number): void;
  failed(status?: number): void;
  aborted(): void;
}

export abstract class StandIn {
  readonly media = new FakeMedia();
  /** The next requests go to it. */
  server = 'https://media.example';
  readonly listeners = new Map<string, Set<(event: object) => void>>();
  /** What the plugin has left in the player. */
  abstract readonly left: number;
  /** Seconds of video that are buffered ahead of the playhead. */
  abstract bufferLevelSeconds: number;

  /** The player looks for its next segment; returns the index of the representation, or undefined for its own choice. */
  abstract ask(): number | undefined;
  /** Requests a segment, by default of the representation that the plugin chose. */
  abstract send(index: number, representation?: number): Sent;
  /** The player carries out an abandonment; returns the index of the representation that it loads instead. */
  abstract abandon(sent: Sent): number;
  abstract nextSource(): void;
  /** The page chooses the representation, or leaves that to the player. */
  abstract setAdaptive(isAdaptive: boolean): void;

  /** The first picture is on screen. */
  plays(): void {
    this.media.played = { length: 1 };
    this.media.emit('playing');
  }

  /** To where nothing is buffered. */
  seeks(seconds: number): void {
    this.media.currentTime = seconds;
    this.bufferLevelSeconds = 0;
    this.media.emit('seeking');
  }

  /** Downloads a segment of `bits` in `seconds` from its request, with progress every 50 ms. */
  download(index: number, bits: number, seconds: number, representation?: number): void {
    const sent = this.send(index, representation);
    const events = Math.round(seconds / 0.05);
    for (let event = 1; event < events; event++) {
      wait(0.05);
      if (event === 1) sent.responded?.(bits);
      sent.arrived((bits * event) / events);
    }
    wait(seconds - Math.max(0, events - 1) * 0.05);
    sent.completed(bits);
    this.appended(index);
  }

  /** The segment has come into the buffer. */
  appended(_index: number): void {
    this.bufferLevelSeconds += SEGMENT_SECONDS;
  }

  addEventListener = (type: string, listener: (event: object) => void): void => {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  };

  removeEventListener = (type: string, listener: (event: object) => void): void => {
    this.listeners.get(type)?.delete(listener);
  };

  emit(type: string, event: object = {}): void {
    for (const listener of [...(this.listeners.get(type) ?? [])]) listener(event);
  }

  protected get listenerCount(): number {
    return [...this.listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

export function heard(handle: LeoAbrHandle) {
  const decisions: DecisionEvent[] = [];
  const faults: FaultEvent[] = [];
  handle.on('decision', (event) => decisions.push(event));
  handle.on('fault', (event) => faults.push(event));
  return { handle, decisions, faults };
}

/** Options with a controller whose type stays known. */
export type OptionsWith<Controller> = LeoAbrOptions & { controller?: Controller };

export function ranges(pairs: [start: number, end: number][]): TimeRanges {
  return { length: pairs.length, start: (i) => pairs[i]![0], end: (i) => pairs[i]![1] };
}

/** A chunk of a live segment: one `mdat` of as many bytes. */
export function chunkOf(bytes: number) {
  const chunk = new Uint8Array(bytes);
  new DataView(chunk.buffer).setUint32(0, bytes);
  chunk.set(new TextEncoder().encode('mdat'), 4);
  return chunk;
}

/** Changes settings, also within others. */
export function merge(update: object, into: object): void {
  for (const [key, value] of Object.entries(update)) {
    const target = into as Record<string, unknown>;
    if (typeof value === 'object' && value !== null) merge(value, target[key] as object);
    else target[key] = value;
  }
}
