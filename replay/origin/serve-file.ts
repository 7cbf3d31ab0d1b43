/** Serves the files of a session: documents at once, media at the rate of the link. */

import { InputError } from '../../abr/errors.ts';
import { UTC_PATH } from '../media/manifest.ts';
import type { BlockingReload } from '../media/playlists.ts';
import {
  JSON_TYPE,
  OPEN_HEADERS,
  Refusal,
  SESSION_SECONDS_HEADER,
  TRACE_SECONDS_HEADER,
  textResponse,
} from './answers.ts';
import { deliveryHeaders } from './delivery.ts';
import type { ByteRange } from './range-stream.ts';
import type { ReplaySession } from './session.ts';

const TEXT_TYPE = 'text/plain';

/** Files of a session that are neither paced nor logged. */
const DOCUMENTS = new Map<string, [contentType: string, bodyOf: (session: ReplaySession) => string]>([
  ['manifest.mpd', ['application/dash+xml', (session) => session.manifest()]],
  ['sizes.json', [JSON_TYPE, ({ presentation }) => JSON.stringify(presentation.sizes)]],
  ['time', [TEXT_TYPE, ({ utcMs }) => String(utcMs)]],
  [UTC_PATH, [TEXT_TYPE, ({ utcMs }) => new Date(Math.round(utcMs)).toISOString()]],
  ['log', [JSON_TYPE, ({ log }) => JSON.stringify(log)]],
  ['link', [JSON_TYPE, ({ publishedLink }) => JSON.stringify(publishedLink)]],
]);

export async function serveFile(session: ReplaySession, path: string, request: Request): Promise<Response> {
  const [contentType, bodyOf] = DOCUMENTS.get(path) ?? [];
  if (contentType && bodyOf) return textResponse(contentType, bodyOf(session));
  const playlist = path.endsWith('.m3u8') ? await session.playlist(path, blockingReload(request)) : undefined;
  if (playlist !== undefined) return textResponse('application/vnd.apple.mpegurl', playlist);
  const file = session.presentation.find(path);
  if (!file) throw new Refusal(404, `no "${path}" in session ${session.id}`);
  const early = session.secondsUntil(file);
  if (early > 0) throw new Refusal(404, `"${path}" does not exist yet; request it in ${early.toFixed(3)} s`);

  const length = file.body.length;
  const range = parseRange(request.headers.get('range'), length);
  let { delivery = 'length' } = session.spec;
  if (!session.isComplete(file, range.end) && (delivery === 'length' || delivery === 'cacheable')) delivery = 'chunked';
  const headers = {
    ...OPEN_HEADERS,
    'content-type': file.contentType,
    'accept-ranges': 'bytes',
    ...(range.isPart && { 'content-range': `bytes ${range.start}-${range.end - 1}/${length}` }),
    ...deliveryHeaders(delivery, range.end - range.start),
  };
  const status = range.isPart ? 206 : 200;
  if (request.method === 'HEAD') return new Response(null, { status, headers });
  const { body, requestedAtSeconds } = await session.serve(file, range, { path, signal: request.signal });
  const times = {
    [TRACE_SECONDS_HEADER]: (session.startSeconds + requestedAtSeconds).toFixed(6),
    [SESSION_SECONDS_HEADER]: requestedAtSeconds.toFixed(6),
  };
  return new Response(body, { status, headers: { ...headers, ...times } });
}

function blockingReload({ url }: Request): BlockingReload | undefined {
  const query = new URL(url).searchParams;
  const numberOf = (name: string) => {
    const value = query.get(name);
    if (value !== null && !/^\d+$/.test(value)) throw new InputError(name, 'a whole number', value);
    return value === null ? undefined : Number(value);
  };
  const mediaSequence = numberOf('_HLS_msn');
  const part = numberOf('_HLS_part');
  return mediaSequence === undefined ? undefined : { mediaSequence, ...(part !== undefined && { part }) };
}

/** A single range (RFC 9110), `end` exclusive, else the whole file. Throws a 416 for a range outside the file. */
function parseRange(header: string | null, length: number): ByteRange & { isPart: boolean } {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if ((from === '' && to === '') || (from !== '' && to !== '' && Number(to) < Number(from))) {
    return { start: 0, end: length, isPart: false };
  }
  const start = from === '' ? Math.max(0, length - Number(to)) : Number(from);
  const end = from === '' || to === '' ? length : Math.min(length, Number(to) + 1);
  if (start < end) return { start, end, isPart: true };
  throw new Refusal(416, `range ${header} is outside of ${length} bytes`, { 'content-range': `bytes */${length}` });
}
