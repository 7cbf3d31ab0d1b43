/** Keeps orbital elements fresh and computes the satellites in view and the serving one. */

import { roundedDegrees } from '../api/security.ts';
import type { SkyReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { ObstructionMap } from '../dish/obstruction-map.ts';
import type { Place } from '../place.ts';
import type { ElementSource } from './element-source.ts';
import type { ElementSet } from './elements.ts';
import { LEAST_CANDIDATE_DEGREES, type ServingSatellite, ServingSatelliteFinder } from './serving-satellite.ts';
import { createSkyView, type SkyView } from './sky-view.ts';

export interface SkyOptions {
  source: ElementSource;
  place: Place;
  clock: Clock;
  /** UTC in ms of any handover. */
  handoverMs(): number;
}

/** Smallest elevation that Starlink's terminals use. */
const LEAST_SHOWN_DEGREES = 25;
const HOUR_MS = 3_600_000;
/** Satellites identified with less confidence are ignored. */
const LEAST_CONFIDENCE = 0.6;
/** The serving satellite is unknown after this time without an identification. */
const STALE_MS = 30_000;

export class Sky {
  readonly #options: SkyOptions;
  readonly #finder = new ServingSatelliteFinder();
  #view: SkyView | undefined;
  /** The elements of `#view`. */
  #viewed: ElementSet | undefined;
  #serving: (ServingSatellite & { sinceMs: number; seenMs: number }) | undefined;
  /** Cached for a second. */
  #shownOf: { second: number; inView: SkyReply['inView'] } | undefined;

  constructor(options: SkyOptions) {
    this.#options = options;
  }

  /** Reads new elements when due. Call it about once a minute. */
  async refresh(): Promise<void> {
    const { source } = this.#options;
    await source.refresh();
    const { set } = source;
    if (set === undefined || set === this.#viewed) return;
    this.#viewed = set;
    const view = await createSkyView(set.elements);
    this.#view?.dispose();
    this.#view = view;
  }

  observeMap(map: ObstructionMap, atMs: number): void {
    const { place, handoverMs } = this.#options;
    const from = place.exact;
    const view = this.#usable();
    if (view === undefined || from === undefined) return;
    // The newest pixel was painted within the last second.
    const satellites = view.inView(atMs - 500, from, LEAST_CANDIDATE_DEGREES);
    const found = this.#finder.observe({ map, atMs, handoverMs: handoverMs(), satellites });
    if (found === undefined || found.confidence < LEAST_CONFIDENCE) return;
    const before = this.#serving;
    const sinceMs = before?.name === found.name ? before.sinceMs : found.epochStartMs;
    this.#serving = { ...found, sinceMs, seenMs: atMs };
  }

  reply(): SkyReply {
    const { source, clock } = this.#options;
    const nowMs = clock.utcMs();
    const serving = this.#serving;
    return {
      state: this.#state(),
      satellites: this.#view?.size ?? 0,
      ...(source.set !== undefined && { elementsAgeHours: source.ageMs / HOUR_MS }),
      inView: this.#shown(nowMs),
      ...(serving !== undefined &&
        nowMs - serving.seenMs < STALE_MS && {
          serving: { name: serving.name, confidence: serving.confidence, sinceMs: serving.sinceMs },
        }),
    };
  }

  dispose(): void {
    this.#view?.dispose();
    this.#view = undefined;
  }

  #state(): SkyReply['state'] {
    if (this.#view === undefined) return 'no-elements';
    if (this.#usable() === undefined) return 'elements-too-old';
    return this.#options.place.exact === undefined ? 'no-location' : 'running';
  }

  /** Computed for the displayed location, because directions to satellites reveal the exact one. */
  #shown(nowMs: number): SkyReply['inView'] {
    const view = this.#usable();
    const place = this.#options.place.shown();
    if (view === undefined || place === undefined) return [];
    const second = Math.floor(nowMs / 1000);
    if (this.#shownOf?.second !== second) {
      const { latitudeDegrees, longitudeDegrees } = place;
      const from = { latitudeDegrees, longitudeDegrees, altitudeMetres: 0 };
      const inView = view.inView(second * 1000, from, LEAST_SHOWN_DEGREES).map((satellite) => ({
        ...satellite,
        azimuthDegrees: roundedDegrees(satellite.azimuthDegrees),
        elevationDegrees: roundedDegrees(satellite.elevationDegrees),
      }));
      this.#shownOf = { second, inView };
    }
    return this.#shownOf.inView;
  }

  #usable(): SkyView | undefined {
    return this.#options.source.isFresh ? this.#view : undefined;
  }
}
