/** `leo-abr serve`: runs the prediction service beside the dish. */

import { existsSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Command } from 'commander';
import { describeValue, InputError } from '../../abr/errors.ts';
import { parseModel } from '../../predictor/forecast/model-file.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { DishScript, ServiceOptions } from '../../service/index.ts';
import type { CommandIo } from '../shared/command-io.ts';
import { positiveNumber } from '../shared/options.ts';
import { readInput, readJson, requireWritable } from '../shared/results-file.ts';
import { cacheFolder, TOOL_VERSION } from '../tool.ts';
import {
  type AccessFlags,
  accessOf,
  addAccessOptions,
  closed,
  dishAddressOption,
  interrupted,
  listening,
  locationOption,
} from './serve-options.ts';
import { typicalDish } from './serve-simulated.ts';
import { takeEnvironment } from './settings.ts';

const PREFIX = 'LEO_ABR_SERVE_';
/** Largest size of a file with a configuration, certificate or key. */
const MOST_BYTES = 2 ** 20;

type ServeFlags = AccessFlags &
  Record<'tleMaxAge' | 'cache' | 'recordMaxMb', string> &
  Partial<Record<'dish' | 'location' | 'tlsCert' | 'tlsKey' | 'tle' | 'record' | 'config' | 'model', string>> &
  Partial<Record<'exactLocation' | 'printOpenapi', boolean>>;

export function serveCommand(io: CommandIo): Command {
  const dish = 'dish to query, usually 192.168.100.1:9200; without one, players are the only source';
  const tle = 'two-line elements of the satellites, e.g. from CelesTrak; without them, no satellites are shown';
  return addAccessOptions(new Command('serve'), 8790)
    .description('predict the link for the players behind it that have the plugin: HTTP and server-sent events')
    .option('--dish <host:port|simulated>', dish)
    .option('--location <lat,lon>', 'location of the dish in degrees, if it does not report one')
    .option('--exact-location', 'publish the exact location (default: rounded to 0.1 degree)')
    .option('--tls-cert <file>', 'certificate (PEM), for pages served over https')
    .option('--tls-key <file>', 'key of the certificate (PEM)')
    .option('--tle <file|url>', tle)
    .option('--tle-max-age <days>', 'refuse older elements', '7')
    .option('--cache <folder>', 'folder for elements downloaded from a URL', cacheFolder())
    .option('--record <folder>', 'record telemetry, reports, forecasts and a trace in this folder')
    .option('--record-max-mb <n>', 'delete the oldest recordings beyond this size, in MB', '1024')
    .option('--config <file>', 'JSON file with triggers')
    .option('--model <model.json>', 'model for the forecasts, of leo-abr train (default: the built-in one)')
    .option('--print-openapi', 'print the OpenAPI document of the service and exit')
    .addHelpText('after', `\nEach flag can also be set by a variable (${PREFIX}PORT for --port).`)
    .action(async (_flags: ServeFlags, command: Command) => {
      const locate = takeEnvironment(command, { env: io.env ?? {}, prefix: PREFIX, except: ['print-openapi'] });
      await serve(command.opts<ServeFlags>(), io).catch((error) => {
        throw locate(error);
      });
    });
}

async function serve(flags: ServeFlags, io: CommandIo): Promise<void> {
  // The import is here, so that other commands start without the service.
  const { isLoopback, openApiDocument, parseConfig, startService } = await import('../../service/index.ts');
  const { serviceLog } = await import('./service-log.ts');
  if (flags.printOpenapi === true) {
    io.stdout.write(`${JSON.stringify(await openApiDocument(TOOL_VERSION), null, 2)}\n`);
    return;
  }
  const { config: file } = flags;
  const log = serviceLog(io.stderr);
  const running = await listening(
    {
      version: TOOL_VERSION,
      ...accessOf(flags),
      tls: tlsOption(flags),
      dish: await dishOption(flags.dish),
      location: flags.location === undefined ? undefined : locationOption(flags.location),
      showExactLocation: flags.exactLocation === true,
      elements: flags.tle === undefined ? undefined : elementsOption(flags.tle, flags),
      recording: flags.record === undefined ? undefined : recordingOption(flags.record, flags),
      config: file === undefined ? undefined : parseConfig(readInput(file, '--config', MOST_BYTES), file),
      model: flags.model === undefined ? undefined : parseModel(readJson(flags.model, '--model'), flags.model),
      onFault: (error) => log.error(error),
      log,
    },
    startService,
  );
  log.info(`the prediction service is at ${running.url}`);
  if (flags.dish === 'simulated') log.info('the dish is simulated: nothing that the service shows is measured');
  if (flags.dish === undefined) {
    log.info('no dish: it uses only what players report; --dish 192.168.100.1:9200 would query a dish as well');
  }
  if (!isLoopback(flags.host) && flags.tokenFile === undefined) {
    log.warn('everybody in the network can use it; --token-file would require a token');
  }
  await interrupted(io);
  await closed(running, io);
}

async function dishOption(dish: string | undefined): Promise<string | DishScript | undefined> {
  if (dish === 'simulated') return typicalDish();
  return dish === undefined ? undefined : dishAddressOption(dish);
}

function elementsOption(source: string, { tleMaxAge, cache }: ServeFlags): ServiceOptions['elements'] {
  const url = /^https?:\/\//i.test(source) && URL.canParse(source) ? new URL(source) : undefined;
  if (url === undefined ? !existsSync(source) : url.username + url.password !== '') {
    // The error must not show a mistyped address, which may contain a password.
    const got = /^[a-z]{2,}:/i.test(source) ? 'an address that is none of these' : describeValue(source);
    const expected = 'a readable file, or an http(s) address without name and password';
    throw new InputError('--tle', expected, undefined, got);
  }
  return { source, cacheDirectory: cache, maxAgeDays: positiveNumber(tleMaxAge, '--tle-max-age') };
}

function recordingOption(directory: string, flags: ServeFlags): ServiceOptions['recording'] {
  const maxBytes = positiveNumber(flags.recordMaxMb, '--record-max-mb') * 1e6;
  requireWritable(directory, 'folder', '--record');
  return { directory, maxBytes };
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

/** Reads a PEM file. Errors never show the text, which may be a key or a token. */
function pemIn(file: string, field: string): string {
  const text = readInput(file, field, MOST_BYTES);
  if (text.includes('-----BEGIN ')) return text;
  throw new InputError(placeOf({ file, field }), 'a PEM file', undefined, `${text.length} characters`);
}
