import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { collect } from './options.ts';
import { Settings } from './settings.ts';

/** The flags after parsing `args`, then the variables, then the file. */
function settled(args: string[], env: Record<string, string>, file: object = {}) {
  const command = new Command('serve')
    .option('--port <n>', '', '8790')
    .option('--allow-origin <origin>', '', collect, [])
    .option('--exact-location')
    .option('--no-viewer')
    .option('--help-me');
  command.parse(args, { from: 'user' });
  const settings = new Settings(command, { except: ['help-me'] });
  settings.takeEnvironment(env, 'X_');
  settings.takeFile(file, 'x.json');
  return command.opts();
}

describe('settings', () => {
  test.each<[string, string[], Record<string, string>, object, string]>([
    ['the default', [], {}, {}, '8790'],
    ['the file before the default', [], {}, { port: 1 }, '1'],
    ['the environment before the file', [], { X_PORT: '2' }, { port: 1 }, '2'],
    ['an empty variable as none', [], { X_PORT: '' }, { port: 1 }, '1'],
    ['the command line before all', ['--port', '3'], { X_PORT: '2' }, { port: 1 }, '3'],
  ])('take %s', (_, args, env, file, port) => {
    expect(settled(args, env, file)['port']).toBe(port);
  });

  test('take lists from arrays and from texts', () => {
    const two = ['https://a.example', 'https://b.example'];
    expect(settled([], { X_ALLOW_ORIGIN: two.join(', ') })['allowOrigin']).toEqual(two);
    expect(settled([], {}, { 'allow-origin': two })['allowOrigin']).toEqual(two);
    expect(settled(['--allow-origin', 'c'], { X_ALLOW_ORIGIN: 'd' })['allowOrigin']).toEqual(['c']);
  });

  test('take switches as true or false, and a variable with false precedes the file', () => {
    expect(settled([], { X_EXACT_LOCATION: 'true' })['exactLocation']).toBe(true);
    expect(settled([], { X_EXACT_LOCATION: 'false' }, { 'exact-location': true })['exactLocation']).toBeUndefined();
    expect(() => settled([], { X_EXACT_LOCATION: '1' })).toThrow('X_EXACT_LOCATION: expected true or false, got "1"');
  });

  test('take a switch that begins with no- by its name', () => {
    expect(settled([], {})['viewer']).toBe(true);
    expect(settled([], { X_NO_VIEWER: 'true' })['viewer']).toBe(false);
    expect(settled([], { X_NO_VIEWER: 'false' }, { 'no-viewer': true })['viewer']).toBe(true);
  });

  test('refuse names that are no flags, or flags without a setting', () => {
    expect(() => settled([], { X_HELP_ME: 'true' })).toThrow('X_HELP_ME: expected one of port, allow-origin, exact-');
    expect(() => settled([], {}, { ports: 1 })).toThrow('x.json: settings.ports: expected one of port, ');
  });
});
