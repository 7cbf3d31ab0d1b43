/** Writes the service's log with pino: readable lines on a terminal, else lines of JSON. */

import { type Logger, pino, stdTimeFunctions } from 'pino';
import type { Output } from '../shared/command-io.ts';

export function serviceLog(stderr: Output): Logger {
  const write = (line: string) => stderr.write(stderr.isTTY === true ? readable(JSON.parse(line)) : line);
  const formatters = { level: (level: string) => ({ level }) };
  return pino({ base: null, timestamp: stdTimeFunctions.isoTime, formatters }, { write });
}

type Line = Record<'level' | 'time' | 'msg', string> & { part?: string; code?: string; err?: { stack: string } };

/** Formats a line in local time. */
function readable({ level, time, msg, part, code, err }: Line): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const subject = [part, code].filter((text) => text !== undefined).join(' ');
  const heads = [level === 'info' ? '' : level, subject].map((head) => (head === '' ? '' : `${head}: `));
  const text = `${clock} ${heads.join('')}${err?.stack ?? msg}`;
  // Clients may have sent control characters, which terminals obey.
  return `${text.replaceAll(/[^\n\x20-\x7e]/g, '?')}\n`;
}
