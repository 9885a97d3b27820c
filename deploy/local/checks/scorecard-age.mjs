import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** After so many commits or changed source files, the figures of a scorecard may be those of another product. */
const most = { commits: 200, files: 300 };

const notice = /^> \*\*Out of date\.\*\*.*\n\n/;
const measured = /^\| \[.*\| `(\w+)\+?` \| [\d-]+ \|$/gm;

/**
 * The scorecard's page with a first line that says so if it is out of date, and without one if it is not. `age` is what was done
 * since the oldest of its experiments was measured; undefined if its commit is not in the history.
 *
 * @param {string} page
 * @param {{ commits: number, files: number } | undefined} age
 */
export function withAge(page, age) {
  const text = page.replace(notice, '');
  if (age && age.commits <= most.commits && age.files <= most.files) return text;
  const since = age
    ? `more than ${most.commits} commits or ${most.files} changed source files ago`
    : 'its commit is not in the history';
  return `> **Out of date.** At least one experiment was measured with an older version (${since}); \`npm run chaos\` measures anew.\n\n${text}`;
}

/** Where there is no history, the page stays as it is. */
export function writeScorecardAge(root) {
  if (git(root, 'rev-parse', '--is-shallow-repository') !== 'false') return;
  const file = join(root, 'docs/SCORECARD.md');
  const page = readFileSync(file, 'utf8');
  const ages = [...page.matchAll(measured)].map(([, commit = '']) => readAge(root, commit));
  const oldest = ages.includes(undefined)
    ? undefined
    : {
        commits: Math.max(...ages.map(({ commits }) => commits)),
        files: Math.max(...ages.map(({ files }) => files)),
      };
  writeFileSync(file, withAge(page, oldest));
}

/** The commits since this one, and the product's source files that they changed; undefined if it is not in the history. */
function readAge(root, commit) {
  const commits = git(root, 'rev-list', '--count', `${commit}..HEAD`);
  const sources = ['apps', 'libs', 'prisma', ':!*spec.ts', ':!apps/e2e', ':!apps/console'];
  const files = git(root, 'diff', '--name-only', commit, 'HEAD', '--', ...sources);
  if (commits === undefined || files === undefined) return undefined;
  return { commits: Number(commits), files: files.split('\n').filter(Boolean).length };
}

/** The output of a git command; undefined if it fails. */
function git(root, ...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
