import { runCommand } from './command.mjs';
import { checkDocuments } from './doc-links.mjs';
import { installPackages, requireNode } from './install.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { checks, jest, Verification } from './verification.mjs';

const roomsWithoutServers = [
  'libs/contract',
  'libs/domain',
  'libs/test-deployment',
  'libs/llm',
  'libs/platform',
  'apps/bench',
  'apps/chaos',
  'apps/demo-model',
  'apps/simulation',
];
const withoutDeployments = ['--testPathIgnorePatterns', 'e2e-spec'];

await runCommand(check, { log, codeWhenInterrupted: 130 });

/** What can be known without starting a server: format, types, lint and the tests of the rooms that need none. */
async function check() {
  requireNode();
  await installPackages(repoRoot, log);
  const verification = new Verification();
  await verification.step('format', checks.format);
  await verification.step('documents', checkDocuments);
  await verification.step('types', checks.types);
  await verification.step('lint', checks.lint);
  await verification.step('unit tests', () => jest(roomsWithoutServers, { args: withoutDeployments }));
  return verification.conclude();
}
