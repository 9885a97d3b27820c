import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { listProjects } from '../services/build.mjs';

/** The imports between the projects' TypeScript files, including type imports, which ESLint's rules against circles ignore. */
export class ImportGraph {
  #root;
  #packages = new Map();
  #imports = new Map();
  #texts = new Map();

  constructor(repoRoot) {
    this.#root = repoRoot;
    const projects = listProjects(repoRoot).filter((project) => existsSync(join(project, 'package.json')));
    for (const project of projects) this.#readPackage(project);
    for (const project of projects) for (const file of sourcesBelow(join(project, 'src'))) this.#readSource(file);
  }

  /** The files below `src` folders, relative to the root of the repository. */
  get files() {
    return [...this.#imports.keys()].map((file) => this.#name(file));
  }

  /** Groups of files that import each other, directly or through others of the group. */
  circles() {
    return stronglyConnected(this.#imports)
      .filter((group) => group.length > 1)
      .map((group) => group.map((file) => this.#name(file)).sort());
  }

  /** Groups of the folders below this one that import each other, directly or through others of the group; tests aside. */
  folderCircles(place) {
    const top = (file) => /^([^/]+)\//.exec(relative(join(this.#root, place), file))?.[1];
    const isProduct = (file) => top(file) !== undefined && !/\.spec\.tsx?$|\/testing\//.test(file);
    const edges = new Map();
    for (const [file, imported] of this.#imports) {
      if (!file.startsWith(join(this.#root, place)) || !isProduct(file)) continue;
      const folders = imported.filter(isProduct).map(top);
      edges.set(
        top(file),
        [...new Set([...(edges.get(top(file)) ?? []), ...folders])].filter((one) => one !== top(file)),
      );
    }
    return stronglyConnected(edges).filter((group) => group.length > 1);
  }

  /** The files that import this one. */
  importers(name) {
    const target = join(this.#root, name);
    return [...this.#imports].flatMap(([file, imported]) => (imported.includes(target) ? [this.#name(file)] : []));
  }

  /** Whether a file loads another by `import()` only when it is needed: a browser then downloads it on its own. */
  loadsLater(importer, name) {
    const file = join(this.#root, importer);
    const paths = [...this.#texts.get(file).matchAll(/\bimport\('([^']+)'\)/g)].map(([, path]) => path);
    return paths.some((path) => this.#resolve(path, dirname(file)) === join(this.#root, name));
  }

  /** The number of lines of a file, with those that are empty or comments. */
  lines(name) {
    return this.#texts.get(join(this.#root, name)).split('\n').length - 1;
  }

  /** Whether the file, or one that it imports directly or through others, has a text that matches the pattern. */
  reaches(name, pattern) {
    const reached = new Set([join(this.#root, name)]);
    for (const file of reached) {
      if (pattern.test(this.#texts.get(file) ?? '')) return true;
      for (const imported of this.#imports.get(file) ?? []) reached.add(imported);
    }
    return false;
  }

  #name(file) {
    return relative(this.#root, file);
  }

  #readPackage(project) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    for (const [path, conditions] of Object.entries(exports)) {
      const source = conditions['@rondo/source']; // a manifest or a style sheet has none
      if (source !== undefined) this.#packages.set(join(name, path), join(project, source));
    }
  }

  #readSource(file) {
    const text = readFileSync(file, 'utf8');
    const paths = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
    this.#texts.set(file, text);
    this.#imports.set(
      file,
      paths.flatMap((path) => this.#resolve(path, dirname(file)) ?? []),
    );
  }

  #resolve(path, folder) {
    if (!path.startsWith('.')) return this.#packages.get(path);
    const target = join(folder, path);
    return [target, `${target}.ts`, `${target}.tsx`, join(target, 'index.ts')].find(
      (file) => isTypeScript(file) && existsSync(file),
    );
  }
}

const isTypeScript = (file) => /\.tsx?$/.test(file);

function sourcesBelow(folder) {
  if (!existsSync(folder)) return []; // create-rondo-app has templates alone
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isTypeScript(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/generated/'));
}

/** Tarjan's algorithm. */
function stronglyConnected(edges) {
  const indices = new Map();
  const lowest = new Map();
  const stack = [];
  const groups = [];

  const visit = (node) => {
    indices.set(node, indices.size);
    lowest.set(node, indices.get(node));
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!indices.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)));
    }
    if (lowest.get(node) === indices.get(node)) groups.push(stack.splice(stack.indexOf(node)));
  };
  for (const node of edges.keys()) if (!indices.has(node)) visit(node);
  return groups;
}
