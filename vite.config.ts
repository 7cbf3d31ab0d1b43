import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minify } from '@swc/core';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Minifies once more, with what Vite's own minifier has left; saves 3 % in brotli. */
const minifyAgain: Plugin = {
  name: 'minify-again',
  renderChunk: {
    order: 'post',
    async handler(code, _chunk, { format, sourcemap }) {
      const result = await minify(code, {
        module: format === 'es',
        ecma: 2018,
        compress: {
          passes: 3,
          keep_fargs: false,
          sequences: false,
          conditionals: false,
          inline: 1,
        },
        mangle: true,
        format: { comments: false, preserve_annotations: false },
        sourceMap: sourcemap !== false,
      });
      return { code: result.code, map: result.map ?? null };
    },
  },
};

/**
 * Leaves `new URL('./file', import.meta.url)` to the bundler of the page that uses the package: this build must not touch it,
 * which a comment in the source says, and the next one must, for which the comment has to go.
 */
const leaveUrls: Plugin = {
  name: 'leave-urls',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replaceAll(/(new URL\(\s*)\/\* @vite-ignore \*\//g, '$1');
    }
  },
};

/**
 * As a file's first line, lets Chromium (from 136) compile all functions beside the main thread while the file loads,
 * instead of each on the main thread at its first call: https://v8.dev/blog/explicit-compile-hints. Nearly all are called
 * by the second segment. Minifiers drop the comment, so this comes last.
 */
const compileHint: Plugin = {
  name: 'compile-hint',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
      // A line of the source map without a mapping.
      else file.source = String(file.source).replace('"mappings":"', '"mappings":";');
    }
  },
};

/** The plugin's entries, by mode: each is one file with nothing shared. */
const ENTRIES: Record<string, [entry: string, file: string, ...plugins: Plugin[]]> = {
  plugin: ['src/index.ts', 'leo-abr.js', compileHint],
  'plugin-hls': ['src/hls.ts', 'leo-abr.hls.js', compileHint],
  'plugin-shaka': ['src/shaka.ts', 'leo-abr.shaka.js', compileHint],
  'plugin-onnx': ['predictor/onnx/index.ts', 'leo-abr.onnx.js'],
  'plugin-onnx-worker': ['predictor/onnx/worker.ts', 'leo-abr.onnx-worker.js'],
  'plugin-trial': ['src/trial.ts', 'leo-abr.trial.js'],
  'plugin-model': ['predictor/model-url/index.ts', 'leo-abr.model.js'],
  'plugin-service': ['predictor/service-client/index.ts', 'leo-abr.service.js'],
};

/** An entry as published; the main one for pages without modules too. dash.js stays outside. */
const plugin = ([entry, file, ...plugins]: [entry: string, file: string, ...plugins: Plugin[]]): UserConfig => ({
  publicDir: false,
  plugins: [minifyAgain, leaveUrls, ...plugins],
  // Chromium has it from 71.
  define: { globalThis: 'self' },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    // The browsers of televisions (docs/plugin.md#engines); `lib` in tsconfig.json of these folders has its built-ins.
    target: 'es2018',
    sourcemap: true,
    lib: {
      entry,
      name: 'LeoAbr',
      formats: file === 'leo-abr.js' ? ['es', 'iife'] : ['es'],
      fileName: (format) => (format === 'es' ? file : 'leo-abr.global.js'),
    },
    // Vite leaves white space in ES libraries; the size budget (scripts/size.js) is for what is shipped.
    rolldownOptions: {
      external: ['dashjs', /^onnxruntime-web/],
      // Reading a property has no side effect here.
      output: {
        minify: {
          compress: { treeshake: { propertyReadSideEffects: false } },
          mangle: true,
          mangleProps: { include: /^_[a-z]/ },
          codegen: true,
        },
        comments: false,
      },
    },
  },
});

/**
 * Files that the built command finds beside itself (transport/programs.ts, service/api/page-routes.ts), and where there is
 * no checkout: the licence, and the Python that `leo-abr train` runs.
 */
const filesBeside: Plugin = {
  name: 'leo-abr:files-beside',
  generateBundle() {
    const emit = (fileName: string, path: string) =>
      this.emitFile({ type: 'asset', fileName, source: readFileSync(here(path)) });
    const emitAll = (to: string, folder: string, names: readonly string[]) => {
      for (const name of names) emit(`${to}/${name}`, `${folder}/${name}`);
    };
    const namesIn = (folder: string, pattern = /./) => readdirSync(here(folder)).filter((name) => pattern.test(name));
    const training = 'predictor/training';
    emit('LICENSE', 'LICENSE');
    emitAll('page', 'service/page', namesIn('service/page', /\.(html|css|js)$/));
    emitAll('models', 'predictor/models', ['built-in.onnx']);
    emitAll('transport', 'transport', ['Cargo.toml', 'Cargo.lock', 'build.rs', 'quiche.patch']);
    emitAll('transport/src', 'transport/src', namesIn('transport/src'));
    emitAll('training', training, ['pyproject.toml']);
    emitAll(
      'training/leo_abr_training',
      `${training}/leo_abr_training`,
      namesIn(`${training}/leo_abr_training`, /\.py$/),
    );
  },
};

/** The command and its worker, for Node; npm dependencies are left as imports. */
const cli: UserConfig = {
  publicDir: false,
  plugins: [filesBeside],
  ssr: { noExternal: [/^\.\.?\//] },
  build: {
    outDir: 'cli/dist',
    emptyOutDir: true,
    target: 'node20',
    ssr: true,
    // Vite leaves them out of server builds by default.
    ssrEmitAssets: true,
    rolldownOptions: {
      input: {
        'leo-abr': 'cli/main.ts',
        'session-worker': 'replay/simulator/threads/session-worker.ts',
        'onnx-thread': 'replay/simulator/threads/onnx-thread.ts',
      },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    },
  },
};

/** The demo page; in development and preview with the origin that its players stream from. */
async function demo(): Promise<UserConfig> {
  const { replayOrigin, pathsIn } = await import('./demo/server/replay-origin.ts');
  const { LEO_ABR_TRACES, LEO_ABR_ALGORITHMS } = process.env;
  const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8')) as { version: string };
  return {
    root: here('demo'),
    // The longer names first: each stands for all that begins with it.
    resolve: {
      alias: {
        'leo-abr/hls': here('src/hls.ts'),
        'leo-abr/shaka': here('src/shaka.ts'),
        'leo-abr/service': here('predictor/service-client/index.ts'),
        'leo-abr': here('src/index.ts'),
      },
    },
    // Relative, so that the built page can lie in any folder.
    base: './',
    define: { __LEO_ABR_VERSION__: JSON.stringify(version) },
    worker: { format: 'es' },
    build: {
      outDir: '../build/demo',
      emptyOutDir: true,
      target: 'es2022',
      chunkSizeWarningLimit: 1500,
      license: { fileName: 'LICENSES.md' },
    },
    optimizeDeps: { include: ['dashjs', 'hls.js', 'shaka-player', 'uplot'] },
    plugins: [
      replayOrigin({
        traces: [here('replay/traces'), ...pathsIn(LEO_ABR_TRACES)],
        algorithms: pathsIn(LEO_ABR_ALGORITHMS),
      }),
    ],
  };
}

/** The origin of the built page where there is no other, in one file: not all browsers let service workers import. */
const demoWorker: UserConfig = {
  publicDir: false,
  build: {
    outDir: 'build/demo',
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: here('demo/worker/origin-worker.ts'),
      name: 'originWorker',
      formats: ['iife'],
      fileName: () => 'origin-worker.js',
    },
  },
};

export default defineConfig(({ mode }) => {
  const entry = ENTRIES[mode];
  if (entry !== undefined) return plugin(entry);
  if (mode === 'demo-worker') return demoWorker;
  return mode === 'cli' ? cli : demo();
});
