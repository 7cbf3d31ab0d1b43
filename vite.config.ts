import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minify } from '@swc/core';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Minifies again after Vite's own minifier, which saves 3 % in brotli. */
const minifyAgain = (ecma: 2015 | 2018): Plugin => ({
  name: 'minify-again',
  renderChunk: {
    order: 'post',
    async handler(code, _chunk, { format, sourcemap }) {
      const result = await minify(code, {
        module: format === 'es',
        ecma,
        compress: { passes: 3, keep_fargs: false, sequences: false, conditionals: false, inline: 1 },
        mangle: true,
        format: { comments: false, preserve_annotations: false },
        sourceMap: sourcemap !== false,
      });
      return { code: result.code, map: result.map ?? null };
    },
  },
});

/**
 * Leaves `new URL('./file', import.meta.url)` to the bundler of the page that uses the package. A comment in the source
 * keeps this build from changing it. The plugin removes the comment, so that the page's bundler changes it.
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
 * Begins a file with a comment that lets Chromium (from 136) compile all functions beside the main thread while the
 * file loads, instead of on the main thread at the first call: https://v8.dev/blog/explicit-compile-hints. Nearly all
 * functions are called by the second segment. Minifiers drop the comment, so this plugin is the last.
 */
const compileHint: Plugin = {
  name: 'compile-hint',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
      // The first line has no mapping in the source map.
      else file.source = String(file.source).replace('"mappings":"', '"mappings":";');
    }
  },
};

/**
 * The plugin's entries by mode. Each entry is one file and shares no code with other files. `legacy` files are scripts
 * for televisions of 2018 and 2019.
 */
const ENTRIES: Record<string, [entry: string, file: string, ...plugins: Plugin[]]> = {
  plugin: ['src/index.ts', 'leo-abr.js', compileHint],
  'plugin-hls': ['src/hls.ts', 'leo-abr.hls.js', compileHint],
  'plugin-shaka': ['src/shaka.ts', 'leo-abr.shaka.js', compileHint],
  'plugin-legacy': ['src/index.ts', 'leo-abr.legacy.global.js'],
  'plugin-hls-legacy': ['src/hls.ts', 'leo-abr.hls.legacy.global.js'],
  'plugin-shaka-legacy': ['src/shaka.ts', 'leo-abr.shaka.legacy.global.js'],
  'plugin-onnx': ['predictor/onnx/index.ts', 'leo-abr.onnx.js'],
  'plugin-onnx-worker': ['predictor/onnx/worker.ts', 'leo-abr.onnx-worker.js'],
  'plugin-trial': ['trial/index.ts', 'leo-abr.trial.js'],
  'plugin-model': ['predictor/model-url/index.ts', 'leo-abr.model.js'],
  'plugin-service': ['predictor/service-client/index.ts', 'leo-abr.service.js'],
};

/** In the order in which the minifier names variables. */
const LETTERS = 'etnriasocludfphmgvybkwxjqzETNRIASOCLUDFPHMGVYBKWXJQZ';
const CLASS = /^(?=(?:export )?(?:abstract )?class )/m;

/**
 * A letter for each private member (`_x`). Classes share the letters, because Brotli codes few different names best: this
 * saves 2 %. Within a class and its bases, letters differ. No public member has a name of one letter.
 */
function privateNames(): Record<string, string> {
  const sources = ['abr', 'predictor', 'session', 'src', 'trial'].flatMap((folder) =>
    readdirSync(here(folder), { encoding: 'utf8', recursive: true })
      .filter((file) => /(?<!\.test|\.fixture)\.ts$/.test(file))
      .sort()
      .flatMap((file) => readFileSync(here(`${folder}/${file}`), 'utf8').split(CLASS)),
  );
  const namesOf = (source: string): string[] => {
    const [, base] = /^.*class \w+ extends (\w+)/.exec(source) ?? [];
    const inherited =
      base && sources.find((other) => other !== source && new RegExp(`^.*class ${base}\\b`).test(other));
    return [...(source.match(/\b_[a-z]\w*/g) ?? []), ...(inherited ? namesOf(inherited) : [])];
  };
  const classes = sources.map((source) => new Set(namesOf(source)));
  const letters: Record<string, string> = {};
  for (const name of new Set(classes.flatMap((names) => [...names]))) {
    const rivals = classes.flatMap((names) => (names.has(name) ? [...names] : []));
    const taken = new Set(rivals.map((rival) => letters[rival]));
    const free = [...LETTERS].find((letter) => !taken.has(letter));
    // Without a free letter, the minifier finds a longer name.
    if (free !== undefined) letters[name] = free;
  }
  return letters;
}

const isLegacy = (file: string) => file.includes('.legacy.');

/** Builds an entry for the package. The main entry also has a form for pages without modules. dash.js stays outside. */
const plugin = ([entry, file, ...plugins]: [entry: string, file: string, ...plugins: Plugin[]]): UserConfig => ({
  publicDir: false,
  plugins: [minifyAgain(isLegacy(file) ? 2015 : 2018), leaveUrls, ...plugins],
  // Chromium has `globalThis` from version 71, `Object.entries` from 54.
  define: { globalThis: 'self', ...(isLegacy(file) && { 'Object.entries': 'entriesOf' }) },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    // The browsers of televisions (docs/plugin.md#engines). `npm run size` checks the built-ins.
    target: isLegacy(file) ? 'es2015' : 'es2018',
    sourcemap: !isLegacy(file),
    lib: {
      entry,
      name: 'LeoAbr',
      formats: isLegacy(file) ? ['iife'] : file === 'leo-abr.js' ? ['es', 'iife'] : ['es'],
      fileName: (format) => (format === 'es' || isLegacy(file) ? file : 'leo-abr.global.js'),
    },
    // Vite leaves white space in ES libraries, but the size budget (scripts/size.js) is for the shipped files.
    rolldownOptions: {
      external: ['dashjs', /^onnxruntime-web/],
      // In this code, reading a property has no side effect.
      output: {
        ...(isLegacy(file) && { intro: 'const entriesOf = (of) => Object.keys(of).map((key) => [key, of[key]]);' }),
        minify: {
          compress: { treeshake: { propertyReadSideEffects: false } },
          mangle: true,
          mangleProps: { include: /^_[a-z]/, cache: privateNames() },
          codegen: true,
        },
        comments: false,
      },
    },
  },
});

/**
 * Puts files beside the built command, which finds them there (transport/programs.ts, service/api/page-routes.ts), and
 * the licence and the Python of `leo-abr train`, which an installation has no checkout for.
 */
const filesBeside: Plugin = {
  name: 'leo-abr:files-beside',
  generateBundle() {
    const emit = (fileName: string, path: string) =>
      this.emitFile({ type: 'asset', fileName, source: readFileSync(here(path)) });
    const emitAll = (to: string, folder: string, pattern: RegExp) => {
      const names = readdirSync(here(folder)).filter((name) => pattern.test(name));
      for (const name of names) emit(`${to}/${name}`, `${folder}/${name}`);
    };
    emit('LICENSE', 'LICENSE');
    emit('examples/my-algorithm.ts', 'docs/examples/my-algorithm.ts');
    emit('models/built-in.onnx', 'predictor/models/built-in.onnx');
    emitAll('page', 'service/page', /\.(html|css|js)$/);
    emitAll('transport', 'transport', /^(Cargo\.toml|Cargo\.lock|build\.rs|quiche\.patch)$/);
    emitAll('transport/src', 'transport/src', /./);
    emit('training/pyproject.toml', 'predictor/training/pyproject.toml');
    emitAll('training/leo_abr_training', 'predictor/training/leo_abr_training', /\.py$/);
  },
};

/** Builds the command and its workers for Node. npm dependencies stay imports. */
const cli: UserConfig = {
  publicDir: false,
  plugins: [filesBeside],
  ssr: { noExternal: [/^\.\.?\//] },
  build: {
    outDir: 'cli/dist',
    emptyOutDir: true,
    target: 'node20',
    ssr: true,
    // By default, server builds have no assets.
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

/** What the pages of demo and benchmark share. With a relative base, the built page can be in any folder. */
const page = (outDir: string): UserConfig => ({
  // Longer names come first, because an alias also replaces the start of a longer name.
  resolve: {
    alias: {
      'leo-abr/hls': here('src/hls.ts'),
      'leo-abr/shaka': here('src/shaka.ts'),
      'leo-abr/service': here('predictor/service-client/index.ts'),
      'leo-abr': here('src/index.ts'),
    },
  },
  base: './',
  worker: { format: 'es' },
  build: {
    outDir: here(outDir),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 1500,
    license: { fileName: 'LICENSES.md' },
  },
});

const benchPage: UserConfig = {
  ...page('cli/dist/bench-page'),
  ...{ root: here('replay/browser/page'), publicDir: false, logLevel: 'warn' },
};

/** Builds the demo page. Development and preview also have the origin that its players stream from. */
async function demo(): Promise<UserConfig> {
  const { replayOrigin, pathsIn } = await import('./demo/server/replay-origin.ts');
  const { LEO_ABR_TRACES, LEO_ABR_ALGORITHMS } = process.env;
  const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8')) as { version: string };
  return {
    ...page('build/demo'),
    root: here('demo'),
    define: { __LEO_ABR_VERSION__: JSON.stringify(version) },
    optimizeDeps: { include: ['dashjs', 'hls.js', 'shaka-player', 'uplot'] },
    plugins: [
      replayOrigin({
        traces: [here('replay/traces'), ...pathsIn(LEO_ABR_TRACES)],
        algorithms: pathsIn(LEO_ABR_ALGORITHMS),
      }),
    ],
  };
}

/** Builds the service worker that replaces the origin, as one file, because some browsers' workers cannot import. */
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
  if (mode === 'bench-page') return benchPage;
  return mode === 'cli' ? cli : demo();
});
