import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { run } from './run-program.mjs';

/** Programs of other projects that only tests start, around the services. Without one, its tests are skipped. */

/** PgBouncer, between a service and Postgres. */
export const pgbouncer = createTestProgram({ name: 'pgbouncer', variable: 'TEST_PGBOUNCER', version: '--version' });

/** nginx, in front of the gateway. */
export const nginx = createTestProgram({ name: 'nginx', variable: 'TEST_NGINX', version: '-v' });

/** `name` is the program and its package; `version` the option that makes it say its version and end. */
function createTestProgram({ name, variable, version }) {
  return {
    name,
    variable,
    install: `apt install ${name} (without it its tests are skipped)`,

    findLocal({ path }) {
      const file = findProgram([name], path);
      return file && { file };
    },

    async fromPackages(packages) {
      const unpacked = await packages.unpack(name, { packages: [name], programs: [name] });
      const file = join(unpacked.programs[name], name);
      const { LD_LIBRARY_PATH: libraries } = unpacked.env;
      if (!libraries) return { file };
      const script = `${file}-with-libraries`;
      writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH='${libraries}' exec '${file}' "$@"\n`);
      chmodSync(script, 0o755);
      return { file: script };
    },

    /** Rejects if it does not start. */
    async tryOut(file) {
      await run(file, [version], { env: {}, timeoutMs: 5_000 });
    },
  };
}
