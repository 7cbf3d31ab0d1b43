/** Reading and writing traces as text. Browser-safe; files and folders are in `trace-files.ts` (Node). */
export * from './place.ts';
export * from './samples.ts';
export * from './sidecar.ts';
export * from './trace-cooked.ts';
export * from './trace-csv.ts';
export * from './trace-format.ts';
export * from './trace-mahimahi.ts';
