/** The collector of session reports: checks what pages post, and answers once it is in a file. */

import { InputError } from '../../abr/errors.ts';
import { parseSessionReport } from '../../abr/session-report.ts';
import { DEFAULT_LIMITS, HEALTH, listen, newHttpServer } from '../api/http-server.ts';
import { type Refusal, refusalLog, refuse } from '../api/refusals.ts';
import { REAL_CLOCK } from '../clock.ts';
import { NO_LOG } from '../log.ts';
import { openFolder } from '../recording/whole-lines.ts';
import type { ServiceOptions } from '../start-service.ts';
import { FolderFullError, ReportFiles, type ReportFilesOptions } from './report-files.ts';

/** As those of the service. The log has refusals, without the addresses of clients. */
export interface CollectorOptions
  extends Omit<ReportFilesOptions, 'clock'>,
    Pick<ServiceOptions, 'host' | 'port' | 'allowedHosts' | 'allowedOrigins' | 'token' | 'trustedProxies'>,
    Pick<ServiceOptions, 'limits' | 'clock' | 'log' | 'onFault'> {}

export type RunningCollector = Awaited<ReturnType<typeof startCollector>>;

export const REPORTS_PATH = '/v1/reports';
/** Beacons and requests without a preflight are text. */
const TYPES = ['text/plain', 'application/json', 'application/x-ndjson'];

/** A page sends a report and goes: its connection need not stay, but thousands may be open at once. */
const LIMITS = { ...DEFAULT_LIMITS, rate: { perSecond: 20, burst: 200 }, connections: 8192, keepAliveMs: 2000 };

/** Rejects if it cannot listen, or if the folder is unusable. */
export async function startCollector(options: CollectorOptions) {
  const { clock = REAL_CLOCK, allowedHosts = [], allowedOrigins = [], token, limits, log = NO_LOG } = options;
  await openFolder(options.directory);
  const folder = new ReportFiles({ ...options, clock });
  const logRefusal = refusalLog(log, clock);
  const app = await newHttpServer(
    { ...options, security: { allowedHosts, allowedOrigins, token }, limits: { ...LIMITS, ...limits } },
    {
      clock,
      // Addresses are kept in memory only, for their rate.
      onRefusal: (refusal) => logRefusal({ ...refusal, address: 'a client' }),
      routes: `POST ${REPORTS_PATH} or GET ${HEALTH}`,
      hasQueryToken: true,
    },
  );
  /** `accepted`: reports in files since the start. */
  const running = { url: '', accepted: 0, close: () => app.close().then(() => folder.written) };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post<{ Body: string | undefined }>(REPORTS_PATH, async ({ body }, reply) => {
    try {
      const lines = validLines(body);
      await folder.append(lines.join(''));
      running.accepted += lines.length;
      return reply.code(204).send();
    } catch (error) {
      return refuse(reply, refusalOf(error as Error));
    }
  });
  app.get(HEALTH, (_request, reply) => reply.type('text/plain').send('ok\n'));
  running.url = (await listen(app, options)).url;
  return running;
}

/** The reports of a body, written anew; one wrong line refuses all. */
function validLines(body = ''): string[] {
  const lines = body.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new InputError('body', 'lines with a report each', body);
  return lines.map((line, i) => `${JSON.stringify(parseSessionReport(line, `line ${i + 1}`))}\n`);
}

function refusalOf(error: Error): Omit<Refusal, 'address'> {
  const { message } = error;
  if (error instanceof InputError) return { status: 400, code: 'invalid-report', message };
  if (error instanceof FolderFullError) return { status: 507, code: 'full', message };
  return { status: 503, code: 'not-written', message: `the disk did not take it: ${message}` };
}
