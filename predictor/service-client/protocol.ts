/** Both sides use the newest version that both speak (docs/service.md). */

export interface ProtocolRange {
  oldest: number;
  newest: number;
}

/** The versions of this client and this service. Raise `newest` for a change that the other side must know. */
export const PROTOCOL: ProtocolRange = { oldest: 1, newest: 1 };

/** Which side to update; undefined if they share a version. Default: a service that does not state its versions. */
export function disagreement(client: ProtocolRange, service = { oldest: 1, newest: 1 }): string | undefined {
  const outdated = client.newest < service.oldest ? 'client' : client.oldest > service.newest ? 'service' : undefined;
  return outdated && `update the ${outdated}: client version ${client.newest}, service version ${service.newest}`;
}
