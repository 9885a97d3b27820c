import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../install/find-program.mjs';
import { run, trialLimitMs } from '../run-program.mjs';

/** Programs of other projects that only tests start, around the services. Without one, its tests are skipped. */

/** PgBouncer, between a service and Postgres. */
export const pgbouncer = createTestProgram({ name: 'pgbouncer', variable: 'TEST_PGBOUNCER', version: '--version' });

/** nginx, in front of the gateway. */
export const nginx = createTestProgram({ name: 'nginx', variable: 'TEST_NGINX', version: '-v' });

/** Caddy, in its place. */
export const caddy = createTestProgram({ name: 'caddy', variable: 'TEST_CADDY', version: 'version' });

/** HAProxy, in its place, too. */
export const haproxy = createTestProgram({ name: 'haproxy', variable: 'TEST_HAPROXY', version: '-v' });

/** A library that gives the programs which load it a clock of their own. */
export const faketime = {
  name: 'libfaketime',
  variable: 'TEST_FAKETIME',
  install: 'apt install libfaketime (without it its tests are skipped)',

  findLocal: () => findFaketime('/'),

  async fromPackages(packages) {
    const { root } = await packages.unpack('libfaketime', { packages: ['libfaketime'], programs: [] });
    return findFaketime(root);
  },

  /** Rejects if a program does not start with it, or has the real time. */
  async tryOut(file) {
    const { stdout } = await run('date', ['+%s'], {
      env: { PATH: process.env.PATH, LD_PRELOAD: file, FAKETIME: '-1000d' },
      timeoutMs: trialLimitMs,
    });
    if (Date.now() / 1000 - Number(stdout) < 1_000) throw new Error('it does not change the time');
  },
};

/** Below the folder of the processor's architecture. */
function findFaketime(root) {
  const libraries = join(root, 'usr/lib');
  const folders = existsSync(libraries) ? readdirSync(libraries) : [];
  const files = folders.map((folder) => join(libraries, folder, 'faketime/libfaketime.so.1'));
  const file = files.find(existsSync);
  return file && { file };
}

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
      await run(file, [version], { env: {}, timeoutMs: trialLimitMs });
    },
  };
}
