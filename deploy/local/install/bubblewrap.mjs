import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-program.mjs';
import { run, trialLimitMs } from '../run-program.mjs';

const trial = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];

/** Bubblewrap, which isolates the sandboxes. It is a program, not a server. */
export const bubblewrap = {
  name: 'bwrap',
  variable: 'BWRAP_PATH',
  install: 'apt install bubblewrap (Linux only; without it tools refuse to run)',

  findLocal({ path }) {
    const file = findProgram(['bwrap'], path);
    return file && { file };
  },

  async fromPackages(packages) {
    const unpacked = await packages.unpack('bwrap', { packages: ['bubblewrap'], programs: ['bwrap'] });
    const file = join(unpacked.programs.bwrap, 'bwrap');
    return { file: unpacked.env.LD_LIBRARY_PATH ? writeWrapper(file, unpacked.env.LD_LIBRARY_PATH) : file };
  },

  /** Rejects with the system's error message if bubblewrap may not create namespaces here. */
  async tryOut(file) {
    await run(file, trial, { env: {}, timeoutMs: trialLimitMs }).catch((error) => {
      throw new Error(`${file} cannot build a sandbox here: ${error.stderr?.trim() || error.message}`);
    });
  },
};

/** A wrapper of bwrap that finds its unpacked libraries and does not pass their location on to the sandbox. */
function writeWrapper(file, libraryPath) {
  const script = `${file}-with-libraries`;
  writeFileSync(script, `#!/bin/sh\nLD_LIBRARY_PATH='${libraryPath}' exec '${file}' --unsetenv LD_LIBRARY_PATH "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}
