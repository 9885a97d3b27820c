import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { reachableDirectory } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { postgresDirectories } from '../install/find-program.mjs';

const programs = ['pg_dump', 'pg_restore', 'createdb'];

/**
 * Where pg_dump, pg_restore and createdb are, and the environment that they need: beside the server's programs, or in the
 * distribution's package, which is then unpacked below `packagesDirectory`.
 *
 * @param {{ path: string | undefined, packagesDirectory: string }} request
 * @returns {Promise<{ directory: string, env: Record<string, string> }>}
 */
export async function postgresPrograms({ path, packagesDirectory }) {
  const local = postgresDirectories(path)
    .map((directory) => dirname(realpathSync(join(directory, 'postgres')))) // the one on the PATH may be a link
    .find((directory) => programs.every((program) => existsSync(join(directory, program))));
  if (local) return { directory: local, env: {} };

  const packages = new DebianPackages(reachableDirectory(packagesDirectory, 'packages'));
  try {
    const newest = await packages.readDependency('postgresql-client', /postgresql-client-\d+/);
    const unpacked = await packages.unpack('postgres-client', { packages: [newest], programs });
    return { directory: unpacked.programs.pg_dump, env: unpacked.env };
  } finally {
    packages.forget();
  }
}
