import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run-program.mjs';

/**
 * Downloads a package of the npm registry that is no dependency of this repository, and unpacks it, or only one path of it, into the
 * folder. Rejects a package that is not the one whose `integrity` is given.
 */
export async function unpackNpmPackage({ name, integrity, path = 'package' }, folder) {
  mkdirSync(folder, { recursive: true });
  const pack = ['pack', name, '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: tmpdir() });
  const [packed] = JSON.parse(stdout);
  if (packed.integrity !== integrity) throw new Error(`${name} is not the package that was checked`);
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', folder, path]);
  return join(folder, path);
}
