/** Snapshots of a page's JavaScript heap for scripts/bench-demo-page.js and scripts/demo-page-heap.js. */

/** What heapBytesByKind() tells apart, as it is printed. */
export const HEAP_KINDS = {
  objectBytes: 'objects',
  codeBytes: 'compiled code',
  tableBytes: 'tables of V8',
  nativeBytes: 'native',
};

/** What grows by less than this share of itself is flat for anybody who watches. */
export const FLAT_SHARE = 0.02;

/** V8's types of nodes that are no objects of the page's. */
const KINDS = { code: 'codeBytes', hidden: 'tableBytes', native: 'nativeBytes' };

/**
 * The heap by what its nodes are, after a collection of garbage:
 *
 * - objectBytes: what the page, the plugin and dash.js hold on to, strings, arrays and functions included;
 * - codeBytes: V8 compiles a function once more, and faster code of it, after so many calls, and keeps it;
 * - tableBytes: V8's tables of maps and of what depends on them;
 * - nativeBytes: what the browser keeps for the page, array buffers and performance entries among it.
 *
 * The page is held meanwhile.
 */
export async function heapBytesByKind(page) {
  const chunks = [];
  const off = page.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await page.send('HeapProfiler.collectGarbage');
  // All chunks come before the answer.
  await page.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  off();
  const { snapshot, nodes } = JSON.parse(chunks.join(''));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = ['type', 'self_size'].map((field) => fields.indexOf(field));
  const bytes = { objectBytes: 0, codeBytes: 0, tableBytes: 0, nativeBytes: 0 };
  for (let i = 0; i < nodes.length; i += fields.length) {
    bytes[KINDS[types[type][nodes[i + type]]] ?? 'objectBytes'] += nodes[i + size];
  }
  return bytes;
}
