#!/usr/bin/env node
/**
 * Prisma's schema engine without its native binary, which the CLI otherwise downloads on first use.
 * The CLI starts an engine as a program and speaks JSON-RPC with it, one object per line on stdin and
 * stdout; here the same requests reach `@prisma/schema-engine-wasm`, the official WebAssembly build.
 *
 * `schema-engine.mjs --version`
 * `schema-engine.mjs --datasource <json> cli can-connect-to-database|create-database`
 * `schema-engine.mjs --datasource <json> --datamodels <file>…`   then JSON-RPC until stdin ends
 */
import { parseArgs } from 'node:util';
import { canConnect, createDatabase } from './database-commands.mjs';
import { serveRequests } from './json-rpc.mjs';
import { openWasmEngine, wasmEngineVersion } from './wasm-engine.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: 'boolean' },
    datasource: { type: 'string' },
    datamodels: { type: 'string', multiple: true },
    'enabled-preview-features': { type: 'string' },
    'extension-types': { type: 'string' },
  },
});
const url = values.datasource ? JSON.parse(values.datasource).url : undefined;
const databaseCommands = { 'can-connect-to-database': canConnect, 'create-database': createDatabase };

if (values.version) {
  console.log(`schema-engine-wasm ${wasmEngineVersion()}`);
} else if (positionals[0] === 'cli') {
  const command = databaseCommands[positionals[1]];
  if (!command) throw new Error(`This schema engine does not know the command ${positionals[1]}.`);
  process.exitCode = await command(url);
} else {
  await serveRequests({ url, engine: openWasmEngine({ url, schemaFiles: values.datamodels }) });
  process.exit(0); // idle pool connections would keep the process for another ten seconds
}
