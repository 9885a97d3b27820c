import { existsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'prisma/config';

// The CLI would download a native schema engine before every command; ours is the official WebAssembly build.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= path.resolve(__dirname, 'deploy/prisma/schema-engine.mjs');
process.env['CHECKPOINT_DISABLE'] ??= '1';

// The database of `npm start`, unless DATABASE_URL names another.
const localServers = path.resolve(__dirname, '.data/servers.env');
if (existsSync(localServers)) process.loadEnvFile(localServers);

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Not env('DATABASE_URL'): that throws even for `generate`, which needs no database.
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/rondo' },
});
