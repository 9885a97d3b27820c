import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** After so many commits, the figures of a scorecard may be those of another product. */
const mostCommits = 200;

const notice = /^> \*\*Out of date\.\*\*.*\n\n/;
const measured = /^\| \[.*\| `(\w+)\+?` \| [\d-]+ \|$/gm;

/**
 * The scorecard's page with a first line that says so if it is out of date, and without one if it is not. `commits` have been
 * made since the oldest of its experiments was measured; undefined if a commit is not in the history.
 *
 * @param {string} page
 * @param {number | undefined} commits
 */
export function withAge(page, commits) {
  const text = page.replace(notice, '');
  if (commits !== undefined && commits <= mostCommits) return text;
  const since = commits === undefined ? 'its commit is not in the history' : `more than ${mostCommits} commits ago`;
  return `> **Out of date.** At least one experiment was measured with an older version (${since}); \`npm run chaos\` measures anew.\n\n${text}`;
}

/** What the page should be now; undefined where there is no history to count in. */
function pageNow(root) {
  const page = readFileSync(join(root, 'docs/SCORECARD.md'), 'utf8');
  if (git(root, 'rev-parse', '--is-shallow-repository') !== 'false') return undefined;
  const ages = [...page.matchAll(measured)].map(([, commit = '']) => countSince(root, commit));
  return { page, expected: withAge(page, ages.includes(undefined) ? undefined : Math.max(...ages)) };
}

/** The commits that were made after this one; undefined if it is not in the history. */
function countSince(root, commit) {
  const isKnown = git(root, 'merge-base', '--is-ancestor', commit, 'HEAD') !== undefined;
  return isKnown ? Number(git(root, 'rev-list', '--count', `${commit}..HEAD`)) : undefined;
}

/** What is wrong with the first line of docs/SCORECARD.md; undefined if nothing is. */
export function wrongScorecardAge(root) {
  const now = pageNow(root);
  if (!now || now.page === now.expected) return undefined;
  return 'docs/SCORECARD.md does not say how old it is: npm run docs';
}

export function writeScorecardAge(root) {
  const now = pageNow(root);
  if (now) writeFileSync(join(root, 'docs/SCORECARD.md'), now.expected);
}

/** The output of a git command; undefined if it fails. */
function git(root, ...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
