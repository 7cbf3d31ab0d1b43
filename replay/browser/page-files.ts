/** Serves the files of the built page, as the origin's fallback. */

import { staticSite } from '../origin/index.ts';

/** The page's folder in URLs. */
export const PAGE_PATH = '/page/';

/** Responds to paths below `/page/`; false for anything else. */
export const servePageFiles = (directory: string) =>
  staticSite(directory, {
    at: PAGE_PATH,
    headers: {
      'cache-control': 'no-store',
      // The clock of an isolated page has a resolution of 5 instead of 100 microseconds.
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    },
  });
