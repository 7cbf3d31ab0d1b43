import { defineConfig, type UserConfig } from 'vite';

/** The plugin as published: an ES module and a script-tag build; dash.js stays outside. */
const plugin: UserConfig = {
  publicDir: false,
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry: 'src/index.ts',
      name: 'LeoAbr',
      formats: ['es', 'iife'],
      fileName: (format) => (format === 'es' ? 'leo-abr.js' : 'leo-abr.global.js'),
    },
    // Vite leaves white space in ES libraries; the size budget (scripts/size.js) is for what is shipped.
    rolldownOptions: { external: ['dashjs', /^onnxruntime-web/], output: { minify: true } },
  },
};

/** The command and its worker, for Node; npm dependencies are left as imports. */
const cli: UserConfig = {
  publicDir: false,
  ssr: { noExternal: [/^\.\.?\//] },
  build: {
    outDir: 'cli/dist',
    emptyOutDir: true,
    target: 'node20',
    ssr: true,
    rolldownOptions: {
      input: { 'leo-abr': 'cli/main.ts', 'session-worker': 'replay/simulator/session-worker.ts' },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
};

/** The demo page. */
const demo: UserConfig = {
  root: 'demo',
  build: { outDir: '../build/demo', emptyOutDir: true, target: 'es2022' },
};

export default defineConfig(({ mode }) => (mode === 'plugin' ? plugin : mode === 'cli' ? cli : demo));
