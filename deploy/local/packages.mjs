import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';

/**
 * Usage: npm run packages -- [--to FOLDER] [--repository OWNER/NAME]. Writes what is published to a registry: a tarball of each
 * package below, which must have been built, and prints the names of their files as JSON. `GITHUB_REPOSITORY` names the
 * repository, too; a registry compares it with the one that a build says it comes from.
 */
const published = ['libs/client', 'libs/react', 'apps/cli', 'apps/create-rondo-app'];

const { values } = parseArgs({
  options: { to: { type: 'string', default: '.data/packages' }, repository: { type: 'string' } },
});
const repository = values.repository ?? process.env.GITHUB_REPOSITORY;
const to = resolve(values.to);

/** What only this repository needs of a manifest. */
const ownFields = ['private', 'nx', 'devDependencies', 'scripts'];

/** Sources are not published, so that the condition by which this repository finds them must not be, either. */
const withoutSource = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, one]) => (key === '@rondo/source' ? [] : [[key, withoutSource(one)]])),
      )
    : value;

function toManifest(folder, own) {
  const kept = Object.fromEntries(Object.entries(own).filter(([name]) => !ownFields.includes(name)));
  const url = repository && `https://github.com/${repository}`;
  return {
    ...withoutSource(kept),
    author: 'The authors of Rondo',
    files: [...own.files, 'CHANGELOG.md'],
    ...(url && {
      repository: { type: 'git', url: `git+${url}.git`, directory: folder },
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
    }),
    publishConfig: { access: 'public', provenance: true },
  };
}

async function pack(folder) {
  const from = join(repoRoot, folder);
  const own = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const staging = mkdtempSync(join(tmpdir(), 'rondo-package-'));
  try {
    for (const name of [...own.files, 'README.md']) cpSync(join(from, name), join(staging, name), { recursive: true });
    for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(repoRoot, name), join(staging, name));
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify(toManifest(folder, own), null, 2)}\n`);
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', to], { cwd: staging });
    return JSON.parse(stdout)[0].filename;
  } finally {
    rmSync(staging, { recursive: true });
  }
}

mkdirSync(to, { recursive: true });
const files = [];
for (const folder of published) files.push(await pack(folder));
console.log(JSON.stringify(files));
