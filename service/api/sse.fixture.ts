/** Reads server-sent events in tests. */

export async function eventReader(url: string) {
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    /** Resolves with the next event. Rejects if the stream ends first. */
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end >= 0) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          const event = field('event');
          // A comment has no type.
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
