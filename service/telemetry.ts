/** What a second of the dish looks like; whoever has more than one source fills it. */

export interface TelemetrySecond {
  /** UTC in ms of the end of the second. */
  atMs: number;
  /** Ping to the point of presence in ms; undefined where none came back. */
  latencyMs?: number | undefined;
  /** Share of pings lost, 0 to 1. */
  dropRate?: number | undefined;
  /** Usage, not capacity. */
  downlinkUsageBps?: number | undefined;
  uplinkUsageBps?: number | undefined;
  /** The dish says that something is in its way. */
  obstructed?: boolean | undefined;
  /** Told late, from the dish's own history, after a gap or at the start: it is of the past. */
  fromHistory?: boolean;
}
