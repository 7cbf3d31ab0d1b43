/** Households: several players and other traffic on one link, by name or from a JSON file. */

import { check, unknownName } from '../abr/errors.ts';
import { exactly, jsonObject, list, nameOf, number, text, that } from './formats/shape.ts';
import type { Scenario } from './scenarios.ts';

export interface HouseholdPlayer {
  /** Default: the algorithm of `--algorithms`. */
  algorithm?: string;
  /** Second of the household at which the session begins; the segments before it are left out. */
  joinSeconds: number;
}

/** A download that always has bits to send, from one second of the household to another. */
export interface OtherTraffic {
  fromSeconds: number;
  toSeconds: number;
}

export interface Household {
  name: string;
  players: readonly HouseholdPlayer[];
  traffic: readonly OtherTraffic[];
}

/** Joins must not differ by a multiple of a segment, because players that begin together stay together. */
const joins = (...seconds: number[]): HouseholdPlayer[] => seconds.map((joinSeconds) => ({ joinSeconds }));
const TWO = joins(0, 5.3);
const DYNAMIC = joins(9.1, 14.7).map((player) => ({ algorithm: 'dynamic', ...player }));

export const HOUSEHOLDS: Readonly<Record<string, Household>> = {
  two: { name: 'two', players: TWO, traffic: [] },
  four: { name: 'four', players: joins(0, 5.3, 9.1, 14.7), traffic: [] },
  mixed: { name: 'mixed', players: [...TWO, ...DYNAMIC], traffic: [] },
  'late-joiner': { name: 'late-joiner', players: joins(0, 5.3, 62.3), traffic: [] },
  download: { name: 'download', players: TWO, traffic: [{ fromSeconds: 60, toSeconds: 120 }] },
};

/** Segments of a player's session in a household of `segmentCount` segments; below 1 if the player joins too late. */
export function segmentsOfPlayer(
  { joinSeconds }: HouseholdPlayer,
  { segmentCount, scenario }: { segmentCount: number; scenario: Pick<Scenario, 'segmentSeconds' | 'live'> },
): number {
  const { segmentSeconds, live } = scenario;
  const left = segmentCount - Math.floor(joinSeconds / segmentSeconds);
  // A live session needs an end after the join.
  return live !== undefined && left * segmentSeconds <= live.timeShiftSeconds ? 0 : left;
}

/** @throws {InputError} with the known names. */
export function householdNamed(name: string): Household {
  const household = Object.hasOwn(HOUSEHOLDS, name) ? HOUSEHOLDS[name] : undefined;
  if (household !== undefined) return household;
  throw unknownName('--household', Object.keys(HOUSEHOLDS), name, ', or a .json file');
}

/**
 * Parses the text of a JSON file: `{ "name", "players": [{ "algorithm", "joinSeconds" }], "traffic": [{
 * "fromSeconds", "toSeconds" }] }`. Defaults: the file's name, the algorithm of `--algorithms`, `joinSeconds` 0, no
 * traffic. A player must begin at second 0.
 * @throws {InputError} with file and field, also for unknown fields.
 */
export function parseHousehold(json: string, file: string): Household {
  const given = jsonObject(json, file);
  HOUSEHOLD(given, `${file}: `);
  const { name = nameOf(file), players = [], traffic = [] } = given as Partial<Household>;
  const joined = players.map((player) => ({ ...player, joinSeconds: player.joinSeconds ?? 0 }));
  const isBegun = joined.some(({ joinSeconds }) => joinSeconds === 0);
  check(isBegun, `${file}: players`, 'a player that joins at second 0', given['players']);
  return { name, players: joined, traffic };
}

const HOUSEHOLD = exactly({
  'name?': text,
  'players?': list(
    exactly({
      'algorithm?': that('the name of an algorithm', (value) => typeof value === 'string'),
      'joinSeconds?': number({ min: 0 }),
    }),
  ),
  'traffic?': list((value, place) => {
    exactly({ fromSeconds: number({ min: 0 }), toSeconds: number() })(value, place);
    const { fromSeconds, toSeconds } = value as OtherTraffic;
    number({ above: fromSeconds })(toSeconds, `${place}.toSeconds`);
  }),
});
