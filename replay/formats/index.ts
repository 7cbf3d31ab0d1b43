/** Reads and writes traces as text. Browser-safe; `trace-files.ts` (Node) handles files and folders. */
export * from './place.ts';
export * from './samples.ts';
export * from './sidecar.ts';
export * from './trace-cooked.ts';
export * from './trace-csv.ts';
export * from './trace-format.ts';
export * from './trace-mahimahi.ts';
