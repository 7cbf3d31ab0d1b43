/** Jest's transform: swc's, with `Math` as a local of each module, because globals are slow in Jest's contexts. */
import swc from '@swc/jest';

const LOCAL = 'const Math = globalThis.Math; ';

function createTransformer(options) {
  const { process, processAsync, ...rest } = swc.createTransformer(options);
  const withLocal = (result) => ({ ...result, code: LOCAL + result.code });
  return {
    ...rest,
    process: (...args) => withLocal(process(...args)),
    processAsync: async (...args) => withLocal(await processAsync(...args)),
    getCacheKey: (...args) => `${rest.getCacheKey(...args)}-math`,
  };
}

// biome-ignore lint/style/noDefaultExport: Jest requires one.
export default { createTransformer };
