/** What fit-quality.js needs of abr/. */
export { perceivedQoe } from '../abr/perceived-qoe.ts';
export { modelledQuality, QUALITY_PARAMETERS } from '../abr/quality.ts';
