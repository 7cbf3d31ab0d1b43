import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { collect } from './options.ts';
import { takeEnvironment } from './settings.ts';

/** The flags after parsing `args`, then the variables. */
function settled(args: string[], env: Record<string, string>) {
  const command = new Command('serve')
    .option('--port <n>', '', '8790')
    .option('--allow-origin <origin>', '', collect, [])
    .option('--exact-location')
    .option('--help-me');
  command.parse(args, { from: 'user' });
  takeEnvironment(command, { env, prefix: 'X_', except: ['help-me'] });
  return command.opts();
}

test('the command line precedes a variable, which precedes the default; an empty one counts as none', () => {
  expect(settled([], {})['port']).toBe('8790');
  expect(settled([], { X_PORT: '' })['port']).toBe('8790');
  expect(settled([], { X_PORT: '2' })['port']).toBe('2');
  expect(settled(['--port', '3'], { X_PORT: '2' })['port']).toBe('3');
});

test('variables have lists and switches', () => {
  const two = ['https://a.example', 'https://b.example'];
  expect(settled([], { X_ALLOW_ORIGIN: two.join(', ') })['allowOrigin']).toEqual(two);
  expect(settled(['--allow-origin', 'c'], { X_ALLOW_ORIGIN: 'd' })['allowOrigin']).toEqual(['c']);
  expect(settled([], { X_EXACT_LOCATION: 'true' })['exactLocation']).toBe(true);
  expect(settled([], { X_EXACT_LOCATION: 'false' })['exactLocation']).toBeUndefined();
});

test('names that are no flags, flags without a variable and wrong switches are refused', () => {
  expect(() => settled([], { X_PORTS: '1' })).toThrow('X_PORTS: expected one of port, allow-origin, exact-');
  expect(() => settled([], { X_HELP_ME: 'true' })).toThrow('X_HELP_ME: expected one of port, ');
  expect(() => settled([], { X_EXACT_LOCATION: '1' })).toThrow('X_EXACT_LOCATION: expected true or false, got "1"');
});
