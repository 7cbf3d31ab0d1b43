/** The collector of session reports: checks what pages post, and answers once it is in a file. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
import { type Clock, REAL_CLOCK } from '../clock.ts';
import { type Log, NO_LOG } from '../log.ts';
import { FolderFullError, ReportFiles, type ReportFilesOptions } from './report-files.ts';

export interface CollectorOptions
  extends Pick<HttpOptions, 'trustedProxies' | 'onFault'>,
    Omit<ListenOptions, 'tls'>,
    Partial<SecurityOptions>,
    Pick<ReportFilesOptions, 'directory' | 'maxBytes' | 'files'> {
  limits?: Partial<ApiLimits>;
  /** Receives refusals, without the addresses of clients. Default: none of it is logged. */
  log?: Log;
  /** Default: the machine's. */
  clock?: Clock;
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

/** A page sends a report and goes: its connection need not stay, but thousands may be open at once. */
const LIMITS: ApiLimits = {
  ...DEFAULT_LIMITS,
  rate: { perSecond: 20, burst: 200 },
  connections: 8192,
  keepAliveMs: 2000,
};

/** Rejects if it cannot listen, or if the folder is unusable. */
export async function startCollector(options: CollectorOptions): Promise<RunningCollector> {
  const { clock = REAL_CLOCK, directory, maxBytes, files } = options;
  const folder = new ReportFiles({ directory, maxBytes, clock, ...(files && { files }) });
  await folder.open();
  const counts = { accepted: 0 };
  const app = await newApp(options, clock);
  takeReports(app, folder, counts);
  const { url } = await listen(app, options);
  return {
    url,
    get accepted() {
      return counts.accepted;
    },
    async close() {
      await app.close();
      await folder.close();
    },
  };
}

async function newApp(options: CollectorOptions, clock: Clock): Promise<FastifyInstance> {
  const { allowedHosts = [], allowedOrigins = [], token, limits, log = NO_LOG, ...http } = options;
  const logRefusal = refusalLog(log, clock);
  const security = { allowedHosts, allowedOrigins, token };
  return newHttpServer(
    { ...http, security, limits: { ...LIMITS, ...limits } },
    {
      clock,
      // Addresses are kept in memory only, for their rate.
      onRefusal: (refusal) => logRefusal({ ...refusal, address: 'a client' }),
      routes: `POST ${REPORTS_PATH} or GET ${HEALTH}`,
      hasQueryToken: true,
    },
  );
}

function takeReports(app: FastifyInstance, folder: ReportFiles, counts: { accepted: number }): void {
  app.removeAllContentTypeParsers();
  // Beacons and requests without a preflight are text.
  const types = ['text/plain', 'application/json', 'application/x-ndjson'];
  app.addContentTypeParser(types, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string | undefined }>(REPORTS_PATH, async (request, reply) => {
    const lines = validLines(request, reply);
    if (!Array.isArray(lines)) return lines;
    try {
      await folder.append(lines.join(''));
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof FolderFullError) return refuse(reply, { status: 507, code: 'full', message });
      return refuse(reply, { status: 503, code: 'not-written', message: `the disk did not take it: ${message}` });
    }
    counts.accepted += lines.length;
    return reply.code(204).send();
  });
  app.get(HEALTH, (_request, reply) => reply.type('text/plain').send('ok\n'));
}

/** The reports of a body, written anew; after a refusal, the reply: one wrong line refuses all. */
function validLines({ body = '' }: FastifyRequest<{ Body: string | undefined }>, reply: FastifyReply) {
  const lines = body.split(/\r?\n/).filter((line) => line.trim() !== '');
  try {
    if (lines.length === 0) throw new InputError('body', 'lines with a report each', body);
    return lines.map((line, i) => `${JSON.stringify(validReport(line, `line ${i + 1}`))}\n`);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return refuse(reply, { status: 400, code: 'invalid-report', message: error.message });
  }
}

function validReport(line: string, place: string): unknown {
  const bytes = Buffer.byteLength(line);
  if (bytes > MAX_REPORT_BYTES) throw new InputError(place, `at most ${MAX_REPORT_BYTES} bytes`, bytes);
  let report: unknown;
  try {
    report = JSON.parse(line);
  } catch {
    throw new InputError(place, 'JSON', line);
  }
  return validSessionReport(report, place);
}
