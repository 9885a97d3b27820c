import { findProgram } from './find-program.mjs';
import { run } from '../run-program.mjs';

/** Installs the Debian packages of these programs, which have the same names, if one is missing. Resolves with those. As root. */
export async function installTools(names) {
  const missing = names.filter((name) => !findProgram([name], process.env.PATH));
  if (missing.length === 0) return [];
  const install = ['install', '--yes', '--no-install-recommends', ...missing];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', install, { env }).catch(async () => {
    await run('apt-get', ['update'], { env });
    await run('apt-get', install, { env });
  });
  return missing;
}
