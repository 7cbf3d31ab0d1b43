/** Switches and lists. serve.test.ts has flags with values, and names that are no flags. */

import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { collect } from '../shared/options.ts';
import { takeEnvironment } from './settings.ts';

/** The flags from `args`, then from variables. */
function settled(args: string[], env: Record<string, string>) {
  const command = new Command('serve')
    .option('--port <n>')
    .option('--allow-origin <origin>', '', collect, [])
    .option('--exact-location')
    .option('--help-me');
  command.parse(args, { from: 'user' });
  takeEnvironment(command, { env, prefix: 'X_', except: ['help-me'] });
  return command.opts();
}

test('variables have lists and switches', () => {
  const two = ['https://a.example', 'https://b.example'];
  expect(settled([], { X_ALLOW_ORIGIN: two.join(', ') })['allowOrigin']).toEqual(two);
  expect(settled(['--allow-origin', 'c'], { X_ALLOW_ORIGIN: 'd' })['allowOrigin']).toEqual(['c']);
  expect(settled([], { X_EXACT_LOCATION: 'true' })['exactLocation']).toBe(true);
  expect(settled([], { X_EXACT_LOCATION: 'false' })['exactLocation']).toBeUndefined();
});

test('flags without a variable and wrong switches are refused', () => {
  expect(() => settled([], { X_HELP_ME: 'true' })).toThrow('X_HELP_ME: expected one of port, ');
  expect(() => settled([], { X_EXACT_LOCATION: '1' })).toThrow('X_EXACT_LOCATION: expected true or false, got "1"');
});
