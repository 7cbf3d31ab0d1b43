import { expect, test } from '@jest/globals';
import { householdNamed, parseHousehold } from './households.ts';

test('households of a file have defaults', () => {
  const text = '{"players": [{}, {"algorithm": "bola", "joinSeconds": 7}]}';
  const players = [{ joinSeconds: 0 }, { algorithm: 'bola', joinSeconds: 7 }];
  expect(parseHousehold(text, 'folder/ours.json')).toEqual({ name: 'ours', players, traffic: [] });
  const { traffic } = parseHousehold('{"players": [{}], "traffic": [{"fromSeconds": 5, "toSeconds": 9}]}', 'a.json');
  expect(traffic).toEqual([{ fromSeconds: 5, toSeconds: 9 }]);
});

test.each([
  ['{}', /players: expected a player that joins at second 0/],
  ['{"players": 2}', /players: expected a list/],
  ['{"players": [{"joinSeconds": 3}]}', /players: expected a player that joins at second 0/],
  ['{"players": [{"join": 3}]}', /players\[0\].join: expected one of the fields algorithm, joinSeconds/],
  ['{"players": [{"algorithm": 3}]}', /players\[0\].algorithm: expected the name of an algorithm/],
  ['{"players": [{}], "traffic": [{"fromSeconds": 5, "toSeconds": 5}]}', /traffic\[0\].toSeconds.*above 5/],
  ['{"players": [{}], "downloads": []}', /downloads: expected one of the fields name, players, traffic/],
])('%s is refused', (text, message) => {
  expect(() => parseHousehold(text, 'a.json')).toThrow(message);
});

test('unknown names are refused with the known ones', () => {
  const algorithms = householdNamed('mixed').players.map(({ algorithm }) => algorithm);
  expect(algorithms).toEqual([undefined, undefined, 'dynamic', 'dynamic']);
  expect(() => householdNamed('three')).toThrow(/--household: expected one of two, four, .*"three"/);
});
