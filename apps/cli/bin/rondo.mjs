#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../dist/rondo.mjs', import.meta.url));
if (existsSync(built)) await import(built);
else {
  console.error('rondo is not built yet. `npm start` builds everything; `npx nx build @rondo/cli` builds only this.');
  process.exitCode = 2;
}
