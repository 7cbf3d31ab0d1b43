/** The evaluation protocol: what is played, how it is summed up and compared, and results documents. */
export * from './assemble-results.ts';
export * from './bootstrap.ts';
export * from './comparison.ts';
export * from './merge.ts';
export * from './parse-results.ts';
export * from './plan.ts';
export * from './quantiles.ts';
export * from './starts.ts';
export * from './student-t.ts';
export * from './summary.ts';
export * from './summary-table.ts';
