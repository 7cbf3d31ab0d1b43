export { sessionQoe } from '../abr/index.ts';
