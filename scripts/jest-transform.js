/** Jest's transform: swc, with globals of inner loops as locals of each module, because Jest's contexts slow them. */
import swc from '@swc/jest';

const LOCAL = 'const { Array, Float64Array, Map, Math, Number, Object, Set } = globalThis; ';

function createTransformer(options) {
  const { process, processAsync, ...rest } = swc.createTransformer(options);
  const withLocal = (result) => ({ ...result, code: LOCAL + result.code });
  return {
    ...rest,
    process: (...args) => withLocal(process(...args)),
    processAsync: async (...args) => withLocal(await processAsync(...args)),
    getCacheKey: (...args) => `${rest.getCacheKey(...args)}-locals`,
  };
}

// biome-ignore lint/style/noDefaultExport: Jest requires one.
export default { createTransformer };
