import {
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DebianFolder } from '../install/debian-folder.mjs';
import { run } from '../run-program.mjs';

/** The servers that releases of Debian have beside the one of this machine. */
export const newerReleases = {
  trixie: { postgres: '17', packages: ['redis-server'] },
  sid: { postgres: '18', packages: ['valkey-server'] },
};

/** Each is found in the folder by one of these names; the first is that by which it is started. */
const servers = [['redis-server', 'valkey-server'], ['nats-server'], ['pgbouncer']];

/**
 * Unpacks the servers of a release below the directory, which users without rights must be able to reach. Resolves with a PATH
 * on which their programs are, and what each says of its version.
 *
 * @param {keyof typeof newerReleases} release
 * @param {string} directory
 */
export async function newerPrograms(release, directory) {
  const { postgres, packages } = newerReleases[release];
  const all = [`postgresql-${postgres}`, 'nats-server', 'pgbouncer', ...packages];
  const folder = new DebianFolder(join(directory, release), { release, packages: all });
  await folder.make();

  const own = join(directory, `${release}-programs`);
  rmSync(own, { recursive: true, force: true });
  const programs = wrapPostgres(folder.path, { own, place: `usr/lib/postgresql/${postgres}` });
  const scripts = servers.map((names) => {
    const script = join(own, 'bin', names[0]);
    wrap(folder.path, { program: findServer(folder.path, names), script });
    return script;
  });
  const versions = [join(programs, 'postgres'), ...scripts].map(async (script) => {
    const { stdout, stderr } = await run(script, ['--version'], { env: {} });
    return `${stdout}${stderr}`.split('\n')[0];
  });
  return { path: `${programs}:${join(own, 'bin')}`, versions: await Promise.all(versions) };
}

/** Postgres finds its other programs and its files by its own place, so the scripts have places like those of the programs. */
function wrapPostgres(folder, { own, place }) {
  const [from, to] = [join(folder, place, 'bin'), join(own, place, 'bin')];
  for (const name of readdirSync(from).filter((name) => isProgram(join(from, name))))
    wrap(folder, { program: join(from, name), script: join(to, name) });
  symlinkSync(join(folder, place, 'lib'), join(own, place, 'lib'));
  symlinkSync(join(folder, 'usr/share'), join(own, 'usr/share'));
  return to;
}

/** A script that starts a program of the folder with the libraries of the folder. */
function wrap(folder, { program, script }) {
  const libraries = join(folder, 'usr/lib/x86_64-linux-gnu');
  const loader = join(folder, 'usr/lib64/ld-linux-x86-64.so.2');
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(
    script,
    `#!/bin/sh\nexec '${loader}' --argv0 '${script}' --library-path '${libraries}' '${program}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
}

function findServer(folder, names) {
  const places = names.flatMap((name) => ['usr/sbin', 'usr/bin'].map((place) => join(folder, place, name)));
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error(`${folder} has no ${names.join(' or ')}`);
  return found;
}

/** Some are scripts, which start programs by themselves. */
function isProgram(file) {
  const start = Buffer.alloc(4);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, start);
  closeSync(descriptor);
  return start.toString('latin1') === '\x7fELF';
}
