#!/usr/bin/env node
import { cpSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = resolve(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const templates = readdirSync(join(here, 'templates'));

const help = `create-rondo-app FOLDER [--template ${templates.join('|')}] [--packages FOLDER]

Writes an application into FOLDER: a chat in React, a program with tools of its own, or an evaluation.

  --template NAME    chat unless another one is named
  --packages FOLDER  use the packages that \`npm run packages\` of a checkout of Rondo has written there
  --version          which version this is`;

/** What is wrong with the command line. */
class UsageError extends Error {}

function main(words) {
  const { values, positionals } = readWords(words);
  if (values.help) return console.log(help);
  if (values.version) return console.log(version);
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw new UsageError(help);
  if (!templates.includes(values.template))
    throw new UsageError(`There is no template ${values.template}; there are ${templates.join(', ')}.`);
  const to = resolve(folder);
  const found = statSync(to, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw new UsageError(`${folder} is no folder.`);
  if (found && readdirSync(to).length > 0) throw new UsageError(`${folder} is not empty.`);
  write(to, { template: values.template, packages: values.packages });
  console.log(
    `${folder} is there. Its README.md says what it does. Begin with:\n\n  cd ${folder}\n  npm install\n  RONDO_API_KEY=… npm start`,
  );
}

function readWords(words) {
  const options = {
    template: { type: 'string', default: 'chat' },
    packages: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  };
  try {
    return parseArgs({ args: words, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function write(to, { template, packages }) {
  cpSync(join(here, 'templates', template), to, { recursive: true });
  renameSync(join(to, 'gitignore'), join(to, '.gitignore')); // npm leaves files of that name out of a package
  const file = join(to, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const name =
    basename(to)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]/g, '-')
      .replace(/^[._-]+/, '') || 'rondo-app';
  const dependencies = Object.entries(manifest.dependencies).map(([dependency, wanted]) => [
    dependency,
    dependency.startsWith('@rondo/') ? findPackage(dependency, { to, packages }) : wanted,
  ]);
  const written = { ...manifest, name, dependencies: Object.fromEntries(dependencies) };
  writeFileSync(file, `${JSON.stringify(written, null, 2)}\n`);
}

/** All packages of Rondo have the same version. */
function findPackage(dependency, { to, packages }) {
  if (packages === undefined) return `^${version}`;
  const file = `${dependency.replace('@', '').replace('/', '-')}-${version}.tgz`;
  return `file:${relative(to, join(resolve(packages), file))}`;
}

try {
  main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError;
  if (!isUsage && error.syscall === undefined) throw error; // else the folder cannot be written
  console.error(error.message);
  process.exitCode = isUsage ? 2 : 1;
}
