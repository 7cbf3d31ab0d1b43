export type { Forecaster } from '../abr/forecast.ts';
