import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { run } from './run-program.mjs';

/** PgBouncer, which tests put between a service and Postgres. */
export const pgbouncer = {
  name: 'pgbouncer',
  variable: 'TEST_PGBOUNCER',
  install: 'apt install pgbouncer (without it its tests are skipped)',

  findLocal({ path }) {
    const file = findProgram(['pgbouncer'], path);
    return file && { file };
  },

  async fromPackages(packages) {
    const unpacked = await packages.unpack('pgbouncer', { packages: ['pgbouncer'], programs: ['pgbouncer'] });
    const file = join(unpacked.programs.pgbouncer, 'pgbouncer');
    const { LD_LIBRARY_PATH: libraries } = unpacked.env;
    if (!libraries) return { file };
    const script = `${file}-with-libraries`;
    writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${file}' "$@"\n`);
    chmodSync(script, 0o755);
    return { file: script };
  },

  /** Rejects if it does not start. */
  async tryOut(file) {
    await run(file, ['--version'], { env: {}, timeoutMs: 5_000 });
  },
};
