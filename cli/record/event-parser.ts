/** Parses a stream of server-sent events with the fields `event` and one line of `data`. */

/** The service's events are shorter. */
const LONGEST = 1 << 20;

export class EventParser {
  #rest = '';

  /** The events that this piece completes. @throws {RangeError} for an event that is too long */
  push(piece: string): { type: string; data: string }[] {
    const blocks = (this.#rest + piece).replace(/\r\n?/g, '\n').split('\n\n');
    this.#rest = blocks.pop()!;
    if (this.#rest.length > LONGEST) throw new RangeError(`expected events of at most ${LONGEST} characters`);
    return blocks.flatMap((block) => {
      const fields = new Map<string, string>();
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':');
        // A line that begins with a colon is a comment.
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
      }
      const data = fields.get('data');
      return data === undefined ? [] : [{ type: fields.get('event') ?? 'message', data }];
    });
  }
}
