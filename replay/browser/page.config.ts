/** Builds the page of the benchmark: `npm run build:bench-page`. */

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  root: path('page'),
  // With a relative base the built page can be served below any path.
  base: './',
  publicDir: false,
  logLevel: 'warn',
  resolve: {
    // Longer names come first, because an alias replaces every name that begins with it.
    alias: {
      'leo-abr/hls': path('../../src/hls.ts'),
      'leo-abr/shaka': path('../../src/shaka.ts'),
      'leo-abr': path('../../src/index.ts'),
    },
  },
  worker: { format: 'es' },
  build: {
    outDir: path('../../cli/dist/bench-page'),
    emptyOutDir: true,
    target: 'es2022',
    license: { fileName: 'LICENSES.md' },
    chunkSizeWarningLimit: 1500,
  },
});
