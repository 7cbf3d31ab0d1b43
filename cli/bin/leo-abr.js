#!/usr/bin/env node
// The command's entry: the code itself is built into ../dist by `npm run build:cli` (run by `npm ci`).
import '../dist/leo-abr.js';
