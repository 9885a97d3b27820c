import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Apt } from './apt.mjs';
import { run } from '../run-program.mjs';

/**
 * Debian's and Ubuntu's packages without root: downloaded, unpacked into the data directory, and completed with the
 * shared libraries that this machine lacks. The system is not changed.
 */
export class DebianPackages {
  #directory;
  #apt = new Apt();

  constructor(directory) {
    this.#directory = directory;
  }

  static isPossible() {
    return existsSync('/usr/bin/apt-get') && existsSync('/usr/bin/dpkg-deb');
  }

  /**
   * Unpacks the packages once. Returns where they lie, the directory of each requested program, and the environment variables with
   * which they find their libraries.
   */
  async unpack(name, { packages, programs }) {
    const target = join(this.#directory, name);
    const stamp = join(target, 'unpacked.json');
    if (!existsSync(stamp)) {
      mkdirSync(this.#directory, { recursive: true });
      const draft = mkdtempSync(join(this.#directory, `${name}-`));
      await this.#fetch(draft, packages);
      const libraries = await this.#completeLibraries(draft, programs);
      writeFileSync(join(draft, 'unpacked.json'), JSON.stringify({ libraries }));
      moveInto(target, draft);
    }
    const root = join(target, 'root');
    const { libraries } = JSON.parse(readFileSync(stamp, 'utf8'));
    return {
      root,
      programs: Object.fromEntries(programs.map((program) => [program, findDirectory(root, program)])),
      env: libraries ? { LD_LIBRARY_PATH: libraryPath(root) } : {},
    };
  }

  readDependency(name, pattern) {
    return this.#apt.readDependency(name, pattern);
  }

  /** Removes apt's caches. */
  forget() {
    this.#apt.forget();
  }

  async #fetch(draft, packages) {
    const debs = join(draft, 'debs');
    mkdirSync(debs, { recursive: true });
    await this.#apt.download(packages, debs);
    for (const deb of readdirSync(debs)) await run('dpkg-deb', ['--extract', join(debs, deb), join(draft, 'root')]);
  }

  /** Adds the libraries that the loader does not find, following the dependencies of packages; returns whether any were missing. */
  async #completeLibraries(draft, programs) {
    const seen = new Set();
    while (await missesLibraries(join(draft, 'root'), programs)) {
      const wanted = (await readDependencies(join(draft, 'debs'))).filter(
        (name) => name.startsWith('lib') && !seen.has(name),
      );
      if (wanted.length === 0) throw new Error(`no package brings the libraries that ${programs.join(', ')} needs`);
      wanted.forEach((name) => seen.add(name));
      const installed = await Promise.all(wanted.map(isInstalled));
      const absent = wanted.filter((_, index) => !installed[index]);
      if (absent.length > 0) await this.#fetch(draft, absent);
    }
    return seen.size > 0;
  }
}

async function missesLibraries(root, programs) {
  if (programs.length === 0) return false;
  const env = { ...process.env, LD_LIBRARY_PATH: libraryPath(root) };
  const files = programs.map((program) => join(findDirectory(root, program), program));
  const { stdout } = await run('ldd', files, { env });
  return stdout.includes('not found');
}

/** Names only: alternatives, versions and architectures do not matter for what this system's own apt offers. */
async function readDependencies(debs) {
  const fields = await Promise.all(
    readdirSync(debs).map((deb) => run('dpkg-deb', ['--field', join(debs, deb), 'Depends'])),
  );
  const names = fields.flatMap(({ stdout }) => stdout.split(',').map((entry) => /[^\s:(|]+/.exec(entry)?.[0]));
  return [...new Set(names.filter(Boolean))];
}

function isInstalled(name) {
  const query = run('dpkg-query', ['--show', '--showformat=${Status}', name]);
  return query.then(
    ({ stdout }) => stdout.includes('install ok installed'),
    () => false,
  );
}

/** With the directories that a package has for its private libraries, as PulseAudio's: the packages know these by absolute paths. */
function libraryPath(root) {
  const parents = ['usr/lib', 'lib'].map((parent) => join(root, parent)).filter(existsSync);
  const multiarch = parents.flatMap((parent) => listChildren(parent).filter((child) => child.includes('-linux-')));
  const ofPackages = multiarch.flatMap(listChildren).filter(holdsLibraries);
  return [...multiarch, ...parents, ...ofPackages].join(':');
}

function holdsLibraries(path) {
  return statSync(path).isDirectory() && readdirSync(path).some((name) => /^lib.*\.so/.test(name));
}

function findDirectory(root, program) {
  const postgres = listChildren(join(root, 'usr/lib/postgresql')).map((version) => join(version, 'bin'));
  const directories = [...['usr/lib/chromium', 'usr/bin', 'usr/sbin'].map((path) => join(root, path)), ...postgres];
  return directories.find((directory) => existsSync(join(directory, program)));
}

function listChildren(directory) {
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}

/** If another process has unpacked the same packages meanwhile, its copy is kept. */
function moveInto(target, draft) {
  rmSync(join(draft, 'debs'), { recursive: true });
  chmodSync(draft, 0o755); // the database and the sandboxes run as other users
  if (existsSync(join(target, 'unpacked.json'))) return rmSync(draft, { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}
