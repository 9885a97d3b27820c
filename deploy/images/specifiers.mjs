import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';

const calls = /\b(?:require|import|require\.resolve|createRequire\)?\([^()]*\))\s*\(\s*['"`]([^'"`$]+)/g;
const statements = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?\s*['"]([^'"]+)['"]/gm;
const comments = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** What a file of JavaScript imports: paths, and names of packages without the path inside the package. */
export function listSpecifiers(file) {
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
