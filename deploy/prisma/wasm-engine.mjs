import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { SchemaEngineAdapterFactory } from './postgres-adapter.mjs';

/** Opens an engine for these schema files; it connects to the database only when a request needs it. */
export async function openWasmEngine({ url, schemaFiles }) {
  loadWasm();
  const datamodels = schemaFiles?.map((file) => [file, readFileSync(file, 'utf8')]);
  const adapter = bindMigrationAwareSqlAdapterFactory(new SchemaEngineAdapterFactory(url));
  return bindings.SchemaEngine.new({ datamodels }, ignoreLog, adapter);
}

export function wasmEngineVersion() {
  loadWasm();
  return bindings.version();
}

function ignoreLog() {}

/** The package's own entry imports the .wasm file as a module, which Node does only behind a flag. */
function loadWasm() {
  globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => console.error(`schema engine: ${message}`) };
  const packageDirectory = dirname(
    createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'),
  );
  const module = new WebAssembly.Module(readFileSync(join(packageDirectory, 'schema_engine_bg.wasm')));
  const { exports } = new WebAssembly.Instance(module, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(exports);
  exports.__wbindgen_start();
}
