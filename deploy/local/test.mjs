import { AttackList } from './attack-list.mjs';
import { runCommand } from './command.mjs';
import { checkDocuments } from './doc-links.mjs';
import { installPackages, requireNode } from './install.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { startTestServers } from './test-servers.mjs';
import { checks, jest, jestProjects, Verification } from './verification.mjs';

const help = `npm test               everything: format, build, types, lint, all tests against real servers
npm test -- <pattern>  only the tests whose path matches the pattern
npm run attacks        only the tests that attack, and docs/attacks.md written anew

The servers are started for the tests alone, on free ports; those of a running Rondo are not touched.`;

const endToEnd = ['apps/e2e', 'apps/chaos']; // they start whole deployments, so one at a time
const pattern = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const onlyAttacks = process.argv.includes('--attacks');

if (process.argv.includes('--help')) console.log(help);
else await runCommand(test, { log, codeWhenInterrupted: 130 });

async function test({ owns }) {
  requireNode();
  await installPackages(repoRoot, log);
  const { testDir, ...servers } = await startTestServers(owns);
  const attacks = new AttackList(testDir);
  const env = { ...servers.env, ...attacks.environment };
  const options = [...attacks.jestArguments, ...matching()];
  const verification = new Verification();
  const isWhole = pattern.length === 0 && !onlyAttacks;
  if (isWhole) await verification.step('format', checks.format);
  if (isWhole) await verification.step('documents', checkDocuments);
  const isBuilt = await verification.step('build', checks.build);
  if (isWhole) await verification.step('types', checks.types);
  if (isWhole) await verification.step('lint', checks.lint);

  const projects = jestProjects();
  const rooms = projects.filter((project) => !endToEnd.includes(project));
  await verification.step('tests', () => jest(rooms, { env, args: ['--maxWorkers', '2', ...options] }));
  if (isBuilt) {
    await verification.step('end to end', () => jest(endToEnd, { env, args: ['--runInBand', ...options] }));
  }
  if (isWhole || onlyAttacks) await verification.step('attacks', () => attackTable(attacks));
  return verification.conclude();
}

/** Prints what was tried and what was blocked; docs/attacks.md must say the same. */
async function attackTable(attacks) {
  log.note(attacks.summary());
  if (onlyAttacks) attacks.writeDocument();
  else attacks.compareWithDocument();
}

function matching() {
  if (onlyAttacks) return ['--testNamePattern', '^attack: '];
  return pattern.length > 0 ? ['--testPathPatterns', ...pattern] : [];
}
