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
        ecma: 2022,
        compress: {
          passes: 3,
          keep_fargs: false,
          sequences: false,
          conditionals: false,
          inline: 0,
          reduce_funcs: false,
        },
        mangle: true,
        format: { comments: false, preserve_annotations: false },
        sourceMap: sourcemap !== false,
      });
      return { code: result.code, map: result.map ?? null };
    },
  },
};

/** An entry of the plugin as published, one file per format with nothing shared; dash.js stays outside. */
const plugin = (entry: string, fileNames: Partial<Record<'es' | 'iife', string>>): UserConfig => ({
  publicDir: false,
  plugins: [minifyAgain],
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry,
      name: 'LeoAbr',
      formats: Object.keys(fileNames) as ('es' | 'iife')[],
      fileName: (format) => fileNames[format as 'es' | 'iife']!,
    },
    // Vite leaves white space in ES libraries; the size budget (scripts/size.js) is for what is shipped.
    rolldownOptions: { external: ['dashjs', /^onnxruntime-web/], output: { minify: true, comments: false } },
  },
});

/**
 * Leaves `new URL('./file', import.meta.url)` to the bundler of whoever uses the package: this build must not touch it,
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

/** Puts the licence and the Python that `leo-abr train` runs beside the command, for where there is no checkout. */
const trainingFiles: Plugin = {
  name: 'training-files',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'LICENSE', source: readFileSync(here('LICENSE')) });
    const project = 'predictor/training';
    const modules = readdirSync(here(`${project}/leo_abr_training`)).filter((name) => name.endsWith('.py'));
    for (const name of ['pyproject.toml', ...modules.map((module) => `leo_abr_training/${module}`)]) {
      this.emitFile({ type: 'asset', fileName: `training/${name}`, source: readFileSync(here(`${project}/${name}`)) });
    }
  },
};

/** Files that the built command finds beside itself (transport/programs.ts, service/page-files.ts). */
const filesBeside: Plugin = {
  name: 'leo-abr:files-beside',
  generateBundle() {
    const page = readdirSync(here('service/page')).filter((name) => /\.(html|css|js)$/.test(name));
    const transport = readdirSync(here('transport/src')).map((name) => `transport/src/${name}`);
    transport.push(...['Cargo.toml', 'Cargo.lock', 'build.rs', 'quiche.patch'].map((name) => `transport/${name}`));
    const sources = [...transport, ...page.map((name) => `service/page/${name}`)];
    for (const path of sources) {
      const fileName = path.replace(/^service\//, '');
      this.emitFile({ type: 'asset', fileName, source: readFileSync(here(path)) });
    }
  },
};

/** The command and its worker, for Node; npm dependencies are left as imports. */
const cli: UserConfig = {
  publicDir: false,
  plugins: [filesBeside, trainingFiles],
  ssr: { noExternal: [/^\.\.?\//] },
  build: {
    outDir: 'cli/dist',
    emptyOutDir: true,
    target: 'node20',
    ssr: true,
    // Vite leaves them out of server builds by default.
    ssrEmitAssets: true,
    rolldownOptions: {
      input: { 'leo-abr': 'cli/main.ts', 'session-worker': 'replay/simulator/session-worker.ts' },
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
        'leo-abr/live': here('src/live.ts'),
        'leo-abr/shaka': here('src/shaka.ts'),
        'leo-abr/service': here('predictor/service-client/index.ts'),
        'leo-abr': here('src/index.ts'),
      },
    },
    // Relative, so that the built page can lie in any folder.
    base: './',
    define: { __LEO_ABR_VERSION__: JSON.stringify(version) },
    build: { outDir: '../build/demo', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 1500 },
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
  switch (mode) {
    case 'plugin':
      return plugin('src/index.ts', { es: 'leo-abr.js', iife: 'leo-abr.global.js' });
    case 'plugin-live':
      return plugin('src/live.ts', { es: 'leo-abr.live.js' });
    case 'plugin-mpc-d':
      return plugin('src/mpc-d.ts', { es: 'leo-abr.mpc-d.js' });
    case 'plugin-hls':
      return plugin('src/hls.ts', { es: 'leo-abr.hls.js' });
    case 'plugin-shaka':
      return plugin('src/shaka.ts', { es: 'leo-abr.shaka.js' });
    case 'plugin-onnx':
      return { ...plugin('predictor/onnx/index.ts', { es: 'leo-abr.onnx.js' }), plugins: [minifyAgain, leaveUrls] };
    case 'plugin-onnx-worker':
      return plugin('predictor/onnx/worker.ts', { es: 'leo-abr.onnx-worker.js' });
    case 'plugin-service':
      return plugin('predictor/service-client/index.ts', { es: 'leo-abr.service.js' });
    case 'demo-worker':
      return demoWorker;
    case 'cli':
      return cli;
    default:
      return demo();
  }
});
