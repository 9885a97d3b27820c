import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { images, isNeeded, isNeededOfPackage } from './contents.mjs';

const scope = '@rondo/';
const isScript = (file) => /\.[cm]?js$/.test(file);

/**
 * What an image contains, with paths from the root of the built repository:
 *
 *   files      its own, those of the libraries, and those of packages
 *   links      the libraries as packages: `node_modules/@rondo/contract` leads to `libs/contract`
 *   libraries  their folders
 *   packages   the places of packages of package-lock.json
 *
 * Packages are taken whole, because they may load their own files by computed names. Rejects an import of a package that is
 * not installed, or that is installed for development only.
 */
export function toContents(image, root) {
  const { project, module, packages = [], paths = [] } = images[image];
  const reached = new Reached(root, new InstalledPackages(root));
  if (project) reached.addProject(project);
  if (module) reached.addModule(module);
  for (const name of packages) reached.addPackage(name, image);
  for (const path of paths) reached.addPath(path);
  return reached.contents();
}

class Reached {
  #root;
  #installed;
  #files = new Set();
  #libraries = new Set();
  #packages = new Set();

  constructor(root, installed) {
    this.#root = root;
    this.#installed = installed;
  }

  /** Its whole build, because services start programs and read files that no import names. */
  addProject(folder) {
    this.#files.add(join(folder, 'package.json'));
    const built = filesBelow(this.#root, join(folder, 'dist')).filter(isNeeded);
    if (built.length === 0) throw new Error(`${folder} is not built.`);
    for (const file of built) this.#files.add(file);
    for (const file of built.filter(isScript)) this.#addPackages(file);
  }

  addModule(file) {
    if (this.#files.has(file)) return;
    this.#files.add(file);
    const paths = this.#addPackages(file);
    for (const path of paths) this.addModule(join(dirname(file), path));
  }

  /** As a file imports it; the name of the file is for the message that it is not installed. */
  addPackage(name, file) {
    this.#packages.add(this.#installed.find(name, toProject(file)) ?? missing(name, file));
  }

  addPath(path) {
    const isFolder = statSync(join(this.#root, path)).isDirectory();
    for (const file of isFolder ? filesBelow(this.#root, path).filter(isNeeded) : [path]) this.#files.add(file);
  }

  contents() {
    const packages = this.#installed.closure(this.#packages);
    this.#refuseDevelopment(packages);
    const ofPackages = packages.flatMap((place) => filesBelow(this.#root, place, join(place, 'node_modules')));
    const libraries = [...this.#libraries].sort();
    return {
      files: [...this.#files, ...ofPackages.filter(isNeededOfPackage)].sort(),
      links: libraries.map((folder) => ({ path: `node_modules/${toName(this.#root, folder)}`, to: folder })),
      libraries,
      packages,
    };
  }

  /** Returns the imports that are paths. */
  #addPackages(file) {
    const specifiers = listSpecifiers(join(this.#root, file));
    const names = specifiers.filter((specifier) => !specifier.startsWith('.'));
    for (const name of names) {
      if (name.startsWith(scope)) this.#addLibrary(join('libs', name.slice(scope.length)));
      else this.addPackage(name, file);
    }
    return specifiers.filter((specifier) => specifier.startsWith('.'));
  }

  #addLibrary(folder) {
    if (this.#libraries.has(folder)) return;
    this.#libraries.add(folder);
    this.addProject(folder);
  }

  #refuseDevelopment(packages) {
    const development = packages.filter((place) => this.#installed.get(place).dev);
    if (development.length > 0) throw new Error(`Installed for development only: ${development.join(', ')}.`);
  }
}

/** `apps/gateway/dist/main.js` belongs to `apps/gateway`; a script of another folder to the root. */
const toProject = (file) => /^(?:apps|libs)\/[^/]+/.exec(file)?.[0] ?? '';

const toName = (root, folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).name;

function filesBelow(root, folder, without) {
  if (folder === without || !existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(root, path, without) : [path];
  });
}

function missing(name, file) {
  throw new Error(`${file} imports ${name}, which is not installed.`);
}

const modules = 'node_modules';

/** The packages of package-lock.json and what they depend on, by their place: `node_modules/a/node_modules/b`. */
class InstalledPackages {
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

const calls = /\b(?:require|import|require\.resolve|createRequire\)?\([^()]*\))\s*\(\s*['"`]([^'"`$]+)/g;
const statements = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?\s*['"]([^'"]+)['"]/gm;
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** What a file of JavaScript imports: paths, and names of packages without the path inside the package. */
function listSpecifiers(file) {
  const text = readFileSync(file, 'utf8').replace(comments, '');
  const found = [...text.matchAll(calls), ...text.matchAll(statements)].map(([, specifier]) => specifier);
  return [...new Set(found.filter((specifier) => !isBuiltin(specifier)).map(withoutPathInside))];
}

function withoutPathInside(specifier) {
  if (specifier.startsWith('.')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
