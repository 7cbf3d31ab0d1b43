/** What goes over the wire, as JSON; `schemas.ts` says the same as JSON Schema. Times are UTC of the service in ms. */

import type { ExpectedHandover, QuantileForecast } from '../../abr/forecast.ts';
import type { Problem } from '../problems.ts';

/** An observation of a player. */
export type WireObservation =
  | { kind: 'throughput'; startMs: number; endMs: number; bits: number }
  | { kind: 'idle'; startMs: number; endMs: number }
  | { kind: 'request-latency'; atMs: number; latencyMs: number };

export interface ObservationsRequest {
  /** Name that a player gives itself for as long as it lives; made at random. */
  player: string;
  /** In order of time; may be empty, which asks for time and share alone. */
  observations: WireObservation[];
}

export interface ObservationsReply {
  serverUtcMs: number;
  accepted: number;
  /** Came too late to count. */
  late: number;
  /** Ahead of the service's clock, reversed or too long. */
  impossible: number;
  /** Part of the forecast capacity that this player may count on, above 0 and at most 1. */
  share: number;
}

export interface ForecastReply {
  serverUtcMs: number;
  /** Of the whole link; null where there is none. */
  forecast: QuantileForecast | null;
  /** Seconds of downloading that the service has seen since it was started: what it knows, it knows from them. */
  observedSeconds: number;
  /** Why there is none. */
  because?: string;
}

export interface HandoversReply {
  serverUtcMs: number;
  /** The next ones, soonest first; empty unless the link is known to have them. */
  handovers: ExpectedHandover[];
  epoch: {
    /** A handover is at this plus multiples of 15 s; null before anything is known. */
    phaseMs: number | null;
    /** Root of the mean squared error that is expected of it. */
    uncertaintySeconds: number | null;
    /** Probability that the link has 15 s epochs. */
    leoProbability: number | null;
  };
  degraded: {
    /** Probability that the epoch after the next handover is degraded; null before there were enough. */
    nextProbability: number | null;
    /** Epochs that this was learnt from, the newest counting most. */
    epochs: number;
    /** Whether the one under way counts as degraded so far. */
    current: boolean;
  };
  /** Changes that were seen, newest first. */
  evidence: HandoverEvidence[];
}

export interface HandoverEvidence {
  atMs: number;
  /** What changed. */
  kind: 'latency-step' | 'drops' | 'satellite';
  /** 0 to 1. */
  confidence: number;
  detail: string;
}

/** `unused`: no dish was named. */
export type DishStateName =
  | 'unused'
  | 'connecting'
  | 'online'
  | 'obstructed'
  | 'outage'
  | 'asleep'
  | 'rebooting'
  | 'unreachable';

export interface DishReply {
  state: DishStateName;
  /** UTC in ms. */
  sinceMs: number;
  /** For a person: the outage's cause, or why it cannot be reached. */
  detail?: string;
  hardware?: string;
  software?: string;
  uptimeSeconds?: number;
  /** Of the newest second. */
  latencyMs?: number;
  dropRate?: number;
  downlinkUsageBps?: number;
  uplinkUsageBps?: number;
  fractionObstructed?: number;
  /** UTC in ms of the newest answer. */
  lastAnswerMs?: number;
  /** Values that were not what they should be, and left out. */
  malformedValues: number;
}

export interface SatelliteInView {
  name: string;
  azimuthDegrees: number;
  elevationDegrees: number;
  distanceKm: number;
}

export interface SkyReply {
  /** `unused`: no elements were named. */
  state: 'unused' | 'no-elements' | 'elements-too-old' | 'no-location' | 'running';
  /** Satellites that positions are computed for. */
  satellites: number;
  /** Age of the newest elements. */
  elementsAgeHours?: number;
  /** Above 25 degrees, highest first. */
  inView: SatelliteInView[];
  serving?: { name: string; confidence: number; sinceMs: number };
}

export interface StateReply {
  serverUtcMs: number;
  version: string;
  startedMs: number;
  dish: DishReply;
  sky: SkyReply;
  link: {
    players: number;
    observedSeconds: number;
    /** Whose the newest forecast is: `built-in`, or `model:<name>`; null before there was one. */
    forecaster: string | null;
    lastBusyMs: number | null;
    subscribers: number;
  };
  /** Rounded to 0.1 degree unless the service was told otherwise. */
  location?: { latitudeDegrees: number; longitudeDegrees: number; from: 'dish' | 'options' };
  recording: { directory: string | null; lines: number; waiting: number };
  problems: Problem[];
}

export interface ErrorReply {
  error: { code: string; message: string };
}

/** Types of event on `GET /v1/events`. */
export const EVENT_TYPES = ['forecast', 'handover', 'state', 'trigger', 'clock'] as const;
export type EventType = (typeof EVENT_TYPES)[number];
