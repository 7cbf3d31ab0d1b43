/** A second of the dish. */
export interface TelemetrySecond {
  /** UTC in ms of the end of the second. */
  atMs: number;
  /** Ping to the point of presence; undefined if it was lost. */
  latencyMs?: number | undefined;
  /** Share of pings lost, 0 to 1. */
  dropRate?: number | undefined;
  /** Usage, not capacity. */
  downlinkUsageBps?: number | undefined;
  uplinkUsageBps?: number | undefined;
  obstructed?: boolean | undefined;
  /** It was read late from the dish's history, at the start or after a gap. */
  fromHistory?: boolean;
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that are known: replies have no undefined ones. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
