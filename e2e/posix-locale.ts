/**
 * Chromium has this language under `LANG=C.UTF-8`. It is no valid tag, so `Intl` rejects it. A page may replace its
 * language, so tests check it in an empty page.
 */
export const POSIX_LOCALE = 'en-US@posix';
