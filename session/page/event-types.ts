/** What the listeners of a handle get: decisions, paces of live streams, and faults. */

import type { Decision, InFlight, Pace, PlayerState } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';

/** A decision on a segment with all its inputs, so that it can be recomputed. */
export interface DecisionEvent {
  /** `decide` before a segment's request, `abandon` during one. */
  kind: 'decide' | 'abandon';
  /** Counts the sources that the player was given since the plugin was attached, from 1. */
  session: number;
  decision: Decision;
  /** The controller's input: a copy that is not changed later. */
  state: PlayerState;
  /** The forecast that the controller got, if any. */
  forecast: ValidForecast | undefined;
  /** For `abandon`: the abandoned download. */
  inFlight: InFlight | undefined;
  /** The chosen representation's id in the manifest. */
  representationId: string;
  /** The period's id in the player. */
  streamId: string;
}

/** The playback rate of a live stream or the target latency has changed, with all inputs of the pace. */
export interface PaceEvent {
  session: number;
  pace: Pace;
  /** The rate that plays: it changes at most once a second, whatever the controller asks for. */
  playbackRate: number;
  /** The controller's input: a copy that is not changed later. */
  state: PlayerState;
  /** The download in flight, if any. */
  inFlight: InFlight | undefined;
  forecast: ValidForecast | undefined;
}

/** Faults at run time; playback continues after each. */
export type FaultCode =
  /** The plugin does not support this version of the player: the plugin does nothing. */
  | 'unsupported-player'
  /** The stream declares no bitrates, and they cannot be estimated: the player's own algorithm decides. */
  | 'unsupported-stream'
  /** The player has the plugin already, or another player has it: this one waits until the first ends. */
  | 'already-attached'
  /**
   * The controller threw or gave no usable decision: the player's own algorithm decides on that segment. Or no usable
   * pace: the player's own catch-up goes on.
   */
  | 'controller-failed'
  /** A forecaster threw or gave an invalid forecast: the chain asks the next forecaster. */
  | 'forecaster-failed'
  /** The time source threw or gave no usable time: UTC counts as unknown. */
  | 'time-source-failed'
  /** `sizes` could not be loaded or is malformed: sizes are estimated. */
  | 'sizes-unusable'
  /** `quality` could not be loaded, is malformed or threw: qualities are modelled. */
  | 'quality-unusable'
  /** Three downloads have ended and none could be measured: the player's own algorithm decides until one can. */
  | 'nothing-measured'
  /** The player is not as the plugin expects: its own algorithm decides. */
  | 'player-failed'
  /** A listener of this handle threw. */
  | 'listener-failed';

export interface FaultEvent {
  code: FaultCode;
  message: string;
  /** The error that was caught, if any. */
  cause: unknown;
}

export interface LeoAbrEvents {
  decision: DecisionEvent;
  pace: PaceEvent;
  fault: FaultEvent;
}

export type Listener<K extends keyof LeoAbrEvents> = (event: LeoAbrEvents[K]) => void;

/** Gets the faults as text; `console` fits. */
export interface Logger {
  warn(message: string, ...details: unknown[]): void;
}
