import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const modules = 'node_modules';

/** The packages of package-lock.json and what they depend on, by their place: `node_modules/a/node_modules/b`. */
export class InstalledPackages {
  #root;
  #packages;

  constructor(root) {
    this.#root = root;
    this.#packages = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  }

  /** The place where Node finds the package for a file of the folder; undefined if it is not installed there. */
  find(name, folder) {
    for (let parent = folder; ; parent = toParent(parent)) {
      const place = join(parent, modules, name);
      if (this.#packages[place] && existsSync(join(this.#root, place))) return place;
      if (parent === '') return undefined;
    }
  }

  get(place) {
    return this.#packages[place];
  }

  /** The packages at these places with all that they depend on, sorted. */
  closure(places) {
    const reached = new Set(places);
    for (const place of reached) for (const dependency of this.#listDependencies(place)) reached.add(dependency);
    return [...reached].sort();
  }

  /** Peers are found beside the package; those that it can do without are taken only if something else needs them. */
  #listDependencies(place) {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, ...rest } = this.#packages[place];
    const isOptionalPeer = (name) => rest.peerDependenciesMeta?.[name]?.optional;
    const peers = Object.keys(peerDependencies).filter((name) => !isOptionalPeer(name));
    const required = [...Object.keys(dependencies), ...peers].filter((name) => !(name in optionalDependencies));
    return [
      ...required.map((name) => this.find(name, place) ?? this.#missing(name, place)),
      ...Object.keys(optionalDependencies).flatMap((name) => this.find(name, place) ?? []),
    ];
  }

  #missing(name, place) {
    throw new Error(`${place} needs ${name}, which is not installed.`);
  }
}

/** The next folder whose `node_modules` Node searches. */
function toParent(folder) {
  const inside = folder.lastIndexOf(`/${modules}/`);
  if (inside >= 0) return folder.slice(0, inside);
  return '';
}
