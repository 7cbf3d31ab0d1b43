/** `leo-abr serve`: the prediction service beside the dish. */

import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { Command } from 'commander';
import { describeValue, InputError } from '../abr/errors.ts';
import { placeOf } from '../replay/formats/place.ts';
import type { DishScript, ServiceOptions } from '../service/index.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT_DONE, ExitWith } from './exit-status.ts';
import { collect, decimalNumber } from './flags.ts';
import { readInput } from './results-file.ts';
import {
  addListenOptions,
  closed,
  dishAddressOption,
  interrupted,
  listening,
  locationOption,
  originOption,
  portOption,
  proxyOption,
} from './serve-options.ts';
import { addScriptOptions, dishScript, type ScriptFlags } from './serve-simulated.ts';
import { TOOL_VERSION } from './tool.ts';

const DEFAULT_PORT = 8790;
/** Of configurations, certificates and tokens. */
const MOST_BYTES = 2 ** 20;

interface ServeFlags extends ScriptFlags {
  dish?: string;
  location?: string;
  exactLocation?: boolean;
  host: string;
  port: string;
  allowHost: string[];
  allowOrigin: string[];
  trustProxy: string[];
  tokenFile?: string;
  tlsCert?: string;
  tlsKey?: string;
  tle?: string;
  tleMaxAge: string;
  cache: string;
  record?: string;
  recordMaxMb: string;
  recordMaxDays: string;
  config?: string;
  model?: string;
  printOpenapi?: boolean;
}

export function serveCommand(io: CommandIo): Command {
  return addListenOptions(addScriptOptions(new Command('serve')), DEFAULT_PORT)
    .description('predict the link for every player behind it: HTTP and server-sent events')
    .option(
      '--dish <host:port|simulated>',
      'dish to watch, 192.168.100.1:9200 as a rule; without, reports are all there is',
    )
    .option('--location <lat,lon[,alt]>', 'where the dish is, in degrees and metres, if it does not tell')
    .option('--exact-location', 'show the location as it is; without, to a tenth of a degree')
    .option('--allow-host <name>', 'name that the service is reached by, beside addresses (repeatable)', collect, [])
    .option('--allow-origin <origin>', 'origin whose pages may use it, beside loopback (repeatable)', collect, [])
    .option(
      '--trust-proxy <address|cidr>',
      'proxy whose X-Forwarded-For says whom requests are from (repeatable); without, it is never believed',
      collect,
      [],
    )
    .option('--token-file <file>', 'file with a bearer token that requests need')
    .option('--tls-cert <file>', 'certificate (PEM), for pages served over https')
    .option('--tls-key <file>', 'its key (PEM)')
    .option(
      '--tle <file|url>',
      'two-line elements of the satellites, like those of CelesTrak; without, the sky is not looked at',
    )
    .option('--tle-max-age <days>', 'refuse elements that are older', '7')
    .option('--cache <folder>', 'where elements of a URL are kept', defaultCache())
    .option('--record <folder>', 'keep telemetry, reports, forecasts and a trace there')
    .option('--record-max-mb <n>', 'delete the oldest recordings beyond so many megabytes', '1024')
    .option('--record-max-days <n>', 'delete recordings that are older', '30')
    .option('--config <file>', 'triggers and where they are posted (JSON)')
    .option('--model <file.onnx>', 'model that makes the forecasts, as in leo-abr/onnx; without, the built-in one')
    .option('--print-openapi', 'print the OpenAPI document of the service and end')
    .action((flags: ServeFlags) => serve(flags, io));
}

async function serve(flags: ServeFlags, io: CommandIo): Promise<void> {
  // The other commands do not wait for what only this one needs.
  const { isLoopback, openApiDocument, parseConfig, startService } = await import('../service/index.ts');
  if (flags.printOpenapi === true) {
    io.stdout.write(`${JSON.stringify(await openApiDocument(TOOL_VERSION), null, 2)}\n`);
    return;
  }
  const running = await listening(
    {
      version: TOOL_VERSION,
      host: flags.host,
      port: portOption(flags.port),
      allowedHosts: flags.allowHost,
      allowedOrigins: flags.allowOrigin.map(originOption),
      trustedProxies: flags.trustProxy.map(proxyOption),
      token: flags.tokenFile === undefined ? undefined : tokenIn(flags.tokenFile),
      tls: tlsOption(flags),
      dish: await dishOption(flags, io),
      location: flags.location === undefined ? undefined : locationOption(flags.location),
      showExactLocation: flags.exactLocation === true,
      elements: flags.tle === undefined ? undefined : elementsOption(flags.tle, flags),
      recording: flags.record === undefined ? undefined : recordingOption(flags.record, flags, io),
      config:
        flags.config === undefined
          ? undefined
          : parseConfig(readInput(flags.config, '--config', MOST_BYTES), flags.config),
      model: flags.model === undefined ? undefined : modelOption(flags.model),
      onUnusableModel: ({ message }) =>
        io.stderr.write(`--model: ${message}; the built-in forecaster is asked instead\n`),
      onFault: (error) => io.stderr.write(`fault: ${error.stack ?? error.message}\n`),
    },
    startService,
  );
  io.stderr.write(`the prediction service is at ${running.url}\n`);
  if (!isLoopback(flags.host) && flags.tokenFile === undefined) {
    io.stderr.write('others in the network can use it; with --token-file they would need a token\n');
  }
  await interrupted(io);
  const status = await closed(running, io);
  if (status !== EXIT_DONE) throw new ExitWith(status);
}

async function dishOption(flags: ServeFlags, io: CommandIo): Promise<string | DishScript | undefined> {
  const { dish } = flags;
  if (dish === undefined) return undefined;
  if (dish === 'simulated') return dishScript(flags, io);
  return dishAddressOption(dish, 'a host and a port like 192.168.100.1:9200, or simulated');
}

function elementsOption(source: string, { tleMaxAge, cache }: ServeFlags): ServiceOptions['elements'] {
  const isAddress = /^https?:\/\//i.test(source) && URL.canParse(source);
  if (!isAddress && !existsSync(source)) {
    // A mistyped address may hold a password.
    const got = /^[a-z]{2,}:/i.test(source) ? 'an address that is none of these' : describeValue(source);
    throw new InputError('--tle', 'a readable file, or an http(s) address', undefined, got);
  }
  return { source, cacheDirectory: cache, maxAgeDays: positive(tleMaxAge, '--tle-max-age') };
}

function recordingOption(directory: string, flags: ServeFlags, io: CommandIo): ServiceOptions['recording'] {
  if (existsSync(directory) && !statSync(directory).isDirectory()) {
    throw new InputError('--record', 'a folder, or none yet', directory);
  }
  return {
    directory,
    maxBytes: positive(flags.recordMaxMb, '--record-max-mb') * 1e6,
    maxAgeDays: positive(flags.recordMaxDays, '--record-max-days'),
    onNotice: (message) => io.stderr.write(`${message}\n`),
  };
}

function modelOption(file: string): string {
  if (existsSync(file) && statSync(file).isFile()) return file;
  throw new InputError('--model', 'a readable file', file);
}

function positive(text: string, flag: string): number {
  return decimalNumber(text, flag, { expected: 'a number above 0', holds: (value) => value > 0 });
}

/** Where the operating system wants such things. */
function defaultCache(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  return join(XDG_CACHE_HOME ?? LOCALAPPDATA ?? join(homedir(), '.cache'), 'leo-abr');
}

function tlsOption({ tlsCert, tlsKey }: ServeFlags): { cert: string; key: string } | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    const field = tlsCert === undefined ? '--tls-cert' : '--tls-key';
    throw new InputError(field, '--tls-cert and --tls-key together', undefined, 'one of them');
  }
  const tls = { cert: pemIn(tlsCert, '--tls-cert'), key: pemIn(tlsKey, '--tls-key') };
  try {
    createSecureContext(tls);
  } catch (error) {
    const expected = 'a certificate and the key that belongs to it';
    throw new InputError('--tls-cert', expected, undefined, `${tlsCert}, ${tlsKey} (${(error as Error).message})`);
  }
  return tls;
}

function pemIn(file: string, field: string): string {
  const text = readInput(file, field, MOST_BYTES);
  if (text.includes('-----BEGIN ')) return text;
  throw new InputError(placeOf({ file, field }), 'a PEM file', text.slice(0, 20));
}

const SHORTEST_TOKEN = 16;

/** The token is never shown, not even where it is wrong. */
function tokenIn(file: string): string {
  const field = '--token-file';
  const token = readInput(file, field, MOST_BYTES).trim();
  if (token.length < SHORTEST_TOKEN || !/^[\x21-\x7e]+$/.test(token)) {
    const expected = `one line of at least ${SHORTEST_TOKEN} letters, digits and signs`;
    throw new InputError(placeOf({ file, field }), expected, undefined, `${token.length} characters`);
  }
  return token;
}
