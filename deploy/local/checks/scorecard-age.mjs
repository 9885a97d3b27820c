import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** After so many changed source files, the figures of a scorecard may be those of another product. */
const mostFiles = 300;

const notice = /^> \*\*Out of date\.\*\*.*\n\n/;
const measured = /^\| \[.*\| `(\w+)\+?` \| [\d-]+ \|$/gm;

/**
 * The scorecard's page with a first line that says so if it is out of date, and without one if it is not. `files` of the product
 * have changed since the oldest of its experiments was measured; undefined if its commit is not in the history.
 *
 * @param {string} page
 * @param {number | undefined} files
 */
export function withAge(page, files) {
  const text = page.replace(notice, '');
  if (files !== undefined && files <= mostFiles) return text;
  const since =
    files === undefined ? 'its commit is not in the history' : `more than ${mostFiles} source files have changed since`;
  return `> **Out of date.** At least one experiment was measured with an older version (${since}); \`npm run chaos\` measures anew.\n\n${text}`;
}

/** Where there is no history, the page stays as it is. */
export function writeScorecardAge(root) {
  if (git(root, 'rev-parse', '--is-shallow-repository') !== 'false') return;
  const file = join(root, 'docs/SCORECARD.md');
  const page = readFileSync(file, 'utf8');
  const ages = [...page.matchAll(measured)].map(([, commit = '']) => countFilesSince(root, commit));
  writeFileSync(file, withAge(page, ages.includes(undefined) ? undefined : Math.max(...ages)));
}

/** The product's source files that have changed since this commit; undefined if it is not in the history. */
function countFilesSince(root, commit) {
  const sources = ['apps', 'libs', 'prisma', ':!*spec.ts', ':!apps/e2e', ':!apps/console'];
  return git(root, 'diff', '--name-only', commit, 'HEAD', '--', ...sources)?.split('\n').length;
}

/** The output of a git command; undefined if it fails. */
function git(root, ...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
