import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run-program.mjs';

/**
 * apt without root. It reads the system's package lists, or downloads lists of its own if those are missing or too
 * old. Its caches are in a directory that `forget` removes.
 */
export class Apt {
  #directory;
  #ownLists;
  #isForgotten = false;
  #turn = Promise.resolve();

  /** Downloads the packages' files into `directory`. */
  async download(packages, directory) {
    const attempt = (options) => this.#run('apt-get', [...options, 'download', ...packages], { cwd: directory });
    await attempt([]).catch(async () => attempt(await this.#listsOfOurOwn()));
  }

  /** Resolves a package that only depends on another one: `postgresql` gives `postgresql-15`. */
  async readDependency(name, pattern) {
    const ask = (options) => this.#run('apt-cache', [...options, 'depends', name]);
    const { stdout } = await ask([]).catch(async () => ask(await this.#listsOfOurOwn()));
    return pattern.exec(stdout)[0];
  }

  /** Removes the caches; the object cannot be used afterwards. */
  forget() {
    this.#isForgotten = true;
    if (this.#directory) rmSync(this.#directory, { recursive: true, force: true });
  }

  /** One at a time: the first call builds a cache that makes the others fast. */
  #run(program, args, options) {
    const result = this.#turn.then(() => {
      if (this.#isForgotten) throw new Error('apt was stopped');
      return run(program, [...this.#settings(), ...args], options);
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #settings() {
    const asRoot = process.getuid() === 0 ? ['APT::Sandbox::User=root'] : [];
    const caches = ['pkgcache', 'srcpkgcache'].map((name) => `Dir::Cache::${name}=${name}.bin`);
    return asOptions([`Dir::Cache=${this.#root()}/cache`, ...caches, ...asRoot]);
  }

  /** The options that make apt read them. */
  #listsOfOurOwn() {
    this.#ownLists ??= this.#updateLists();
    return this.#ownLists;
  }

  async #updateLists() {
    const options = asOptions([`Dir::State=${this.#root()}/state`, 'Debug::NoLocking=1', 'Acquire::Languages=none']);
    await this.#run('apt-get', [...options, 'update']);
    return options;
  }

  #root() {
    if (!this.#directory) {
      this.#directory = mkdtempSync(join(tmpdir(), 'rondo-apt-'));
      for (const path of ['cache/archives/partial', 'state/lists/partial']) {
        mkdirSync(join(this.#directory, path), { recursive: true });
      }
    }
    return this.#directory;
  }
}

function asOptions(settings) {
  return settings.flatMap((setting) => ['-o', setting]);
}
