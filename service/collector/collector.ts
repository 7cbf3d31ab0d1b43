/** The collector of session reports: checks what pages post, and answers once it is in a file. */

import type { FastifyReply } from 'fastify';
import { InputError } from '../../abr/errors.ts';
import { MAX_REPORT_BYTES, validSessionReport } from '../../abr/session-report.ts';
import {
  type ApiLimits,
  DEFAULT_LIMITS,
  HEALTH,
  type HttpOptions,
  type ListenOptions,
  listen,
  newHttpServer,
} from '../api/http-server.ts';
import { refusalLog, refuse } from '../api/refusals.ts';
import type { SecurityOptions } from '../api/security.ts';
import { REAL_CLOCK } from '../clock.ts';
import { type Log, NO_LOG } from '../log.ts';
import { FolderFullError, ReportFiles, type ReportFilesOptions } from './report-files.ts';

export interface CollectorOptions
  extends Pick<HttpOptions, 'trustedProxies' | 'onFault'>,
    Omit<ListenOptions, 'tls'>,
    Partial<SecurityOptions>,
    Omit<ReportFilesOptions, 'clock'>,
    Partial<Pick<ReportFilesOptions, 'clock'>> {
  limits?: Partial<ApiLimits>;
  /** Receives refusals, without the addresses of clients. Default: none of it is logged. */
  log?: Log;
}

export interface RunningCollector {
  /** Without a trailing slash. */
  url: string;
  /** Reports in files since the start. */
  readonly accepted: number;
  /** Finishes requests and files. */
  close(): Promise<void>;
}

export const REPORTS_PATH = '/v1/reports';
/** Beacons and requests without a preflight are text. */
const TYPES = ['text/plain', 'application/json', 'application/x-ndjson'];

/** A page sends a report and goes: its connection need not stay, but thousands may be open at once. */
const LIMITS = { ...DEFAULT_LIMITS, rate: { perSecond: 20, burst: 200 }, connections: 8192, keepAliveMs: 2000 };

/** Rejects if it cannot listen, or if the folder is unusable. */
export async function startCollector(options: CollectorOptions): Promise<RunningCollector> {
  const { clock = REAL_CLOCK, allowedHosts = [], allowedOrigins = [], token, limits, log = NO_LOG } = options;
  const folder = new ReportFiles({ ...options, clock });
  await folder.open();
  const security = { allowedHosts, allowedOrigins, token };
  const logRefusal = refusalLog(log, clock);
  const app = await newHttpServer(
    { ...options, security, limits: { ...LIMITS, ...limits } },
    {
      clock,
      // Addresses are kept in memory only, for their rate.
      onRefusal: (refusal) => logRefusal({ ...refusal, address: 'a client' }),
      routes: `POST ${REPORTS_PATH} or GET ${HEALTH}`,
      hasQueryToken: true,
    },
  );
  let accepted = 0;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string | undefined }>(REPORTS_PATH, async ({ body }, reply) => {
    try {
      const lines = validLines(body);
      await folder.append(lines.join(''));
      accepted += lines.length;
      return reply.code(204).send();
    } catch (error) {
      return refused(reply, error as Error);
    }
  });
  app.get(HEALTH, (_request, reply) => reply.type('text/plain').send('ok\n'));
  const { url } = await listen(app, options);
  return {
    url,
    get accepted() {
      return accepted;
    },
    async close() {
      await app.close();
      await folder.close();
    },
  };
}

/** The reports of a body, written anew; one wrong line refuses all. */
function validLines(body = ''): string[] {
  const lines = body.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new InputError('body', 'lines with a report each', body);
  return lines.map((line, i) => {
    const bytes = Buffer.byteLength(line);
    if (bytes > MAX_REPORT_BYTES) throw new InputError(`line ${i + 1}`, `at most ${MAX_REPORT_BYTES} bytes`, bytes);
    return `${JSON.stringify(validSessionReport(parsed(line, i + 1), `line ${i + 1}`))}\n`;
  });
}

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new InputError(`line ${number}`, 'JSON', line);
  }
}

function refused(reply: FastifyReply, error: Error): FastifyReply {
  const { message } = error;
  if (error instanceof InputError) return refuse(reply, { status: 400, code: 'invalid-report', message });
  if (error instanceof FolderFullError) return refuse(reply, { status: 507, code: 'full', message });
  return refuse(reply, { status: 503, code: 'not-written', message: `the disk did not take it: ${message}` });
}
