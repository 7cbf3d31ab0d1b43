/** Reads server-sent events in tests. */

export interface ReadEvent {
  id: string | undefined;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: its type depends on the event.
  data: any;
}

export interface EventReader {
  /** The next event; rejects when the stream ends first. */
  next(): Promise<ReadEvent>;
  close(): void;
}

export async function eventReader(url: string): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const event = field('event');
          // A comment.
          if (event === undefined) continue;
          return { id: field('id'), event, data: JSON.parse(field('data')!) };
        }
        const { done, value } = await reader.read();
        if (done) throw new Error('the stream has ended');
        text += decoder.decode(value, { stream: true });
      }
    },
    close: () => abort.abort(),
  };
}
