/** The service's log on standard error: on a terminal for a person, else as lines of JSON. Written by pino. */

import { type Logger, pino, stdTimeFunctions } from 'pino';
import type { Output } from '../shared/command-io.ts';

export function serviceLog(stderr: Output): Logger {
  const write = (line: string) => stderr.write(stderr.isTTY === true ? readable(JSON.parse(line)) : line);
  const formatters = { level: (level: string) => ({ level }) };
  return pino({ base: null, timestamp: stdTimeFunctions.isoTime, formatters }, { write });
}

interface Line {
  level: string;
  time: string;
  msg: string;
  part?: string;
  code?: string;
  err?: { stack: string };
}

/** In local time. */
function readable({ level, time, msg, part, code, err }: Line): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const subject = [part, code].filter((text) => text !== undefined).join(' ');
  const text = `${clock} ${level === 'info' ? '' : `${level}: `}${subject === '' ? '' : `${subject}: `}${err?.stack ?? msg}`;
  // Clients may have sent control characters, which terminals obey.
  return `${text.replaceAll(/[^\n\x20-\x7e]/g, '?')}\n`;
}
