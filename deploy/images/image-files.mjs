import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { images, isNeeded, isNeededOfPackage } from './contents.mjs';
import { InstalledPackages } from './installed-packages.mjs';
import { listSpecifiers } from './specifiers.mjs';

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
