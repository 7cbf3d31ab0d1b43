/** Explains to a person why a dish does not answer. */

import { status as grpcStatus } from '@grpc/grpc-js';

export type RequestError = Error & { code?: number; details?: string };

/** Returns why the request failed, and advice how to check a dish that does not answer. */
export function reasonOf({ code, details, message }: RequestError, address: string) {
  const given = details ?? message;
  // gRPC puts the cause into sentences of its own.
  const [, cause = given] = /Last error: (?:Error: )?(.*)\. Resolution note/.exec(given) ?? [];
  const text = cause.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
  const meaning = code === undefined ? undefined : MEANINGS[code];
  const host = address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const isSilent = code === grpcStatus.UNAVAILABLE || code === grpcStatus.DEADLINE_EXCEEDED;
  const where = "without answers, this machine is not in the dish's network or has no route to it";
  return {
    reason: meaning === undefined ? text : `${meaning} (${text})`,
    advice: isSilent ? `. Check with "ping ${host}": ${where}` : '',
  };
}

const MEANINGS: Readonly<Record<number, string>> = {
  [grpcStatus.UNAVAILABLE]: 'nothing answers there',
  [grpcStatus.UNIMPLEMENTED]: 'the server there is not a dish',
  [grpcStatus.INTERNAL]: 'its answer cannot be decoded',
};
