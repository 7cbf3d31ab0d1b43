/** Sees the bytes of a low-latency body as they arrive: dash.js's own events come with whole chunks only. */

import type { FragmentRequest } from 'dashjs';

/** dash.js's request before it is sent. It reads the body with `customData.reader`, which it sets at the response. */
interface Outgoing {
  customData?: { request?: FragmentRequest; reader?: ReadableStreamDefaultReader<Uint8Array> };
}

/** A request interceptor for dash.js. `received` is called before dash.js gets the bytes. */
export function bodyReader(received: (request: FragmentRequest, bytes: number) => void) {
  return <T extends object>(outgoing: T): Promise<T> => {
    const { customData } = outgoing as Outgoing;
    const request = customData?.request;
    if (request) {
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      Object.defineProperty(customData, 'reader', {
        configurable: true,
        get: () => reader,
        set(original: ReadableStreamDefaultReader<Uint8Array>) {
          const read = original.read.bind(original);
          original.read = () => {
            const part = read();
            part.then(
              ({ value }) => received(request, value?.length ?? 0),
              () => {},
            );
            return part;
          };
          reader = original;
        },
      });
    }
    return Promise.resolve(outgoing);
  };
}
