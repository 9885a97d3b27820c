import { join } from 'node:path';
import { runCommand } from './command.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { SpecTimes } from './tests/spec-times.mjs';
import { checks, jest, jestProjects, specsWithoutServers, Verification } from './checks/verification.mjs';

const help = `npm run check       what can be known without starting a server: format, types, lint, words, documents, unit and contract tests
npm run test:fast   of that, only the tests, without those that try thousands of schedules and cuts

With --times also the slowest spec files are printed, and which used most of a processor.`;

/** A minute of a processor, which a change seldom needs before `npm run check`. */
const searches = [
  'apps/simulation/src/simulation.spec.ts',
  'apps/simulation/src/flawed-worlds.spec.ts',
  'libs/client/src/run-stream.spec.ts',
];

const onlyTests = process.argv.includes('--tests');
const withTimes = process.argv.includes('--times');

if (process.argv.includes('--help')) console.log(help);
else await runCommand(check, { log, codeWhenInterrupted: 130 });

async function check() {
  requireNode();
  await installPackages(repoRoot, log);
  const verification = new Verification();
  await verification.step('build', checks.build); // the checks of types and of imports between projects read its output
  if (!onlyTests) {
    for (const name of ['words', 'documents', 'circles', 'small files', 'client types', 'format', 'types', 'lint'])
      await verification.step(name, checks[name]);
  }

  const times = new SpecTimes(join(repoRoot, '.data'));
  const reporters = ['--reporters', 'default', ...times.jestArguments];
  const specs = new Set(await specsWithoutServers());
  if (onlyTests) for (const spec of searches) specs.delete(spec);
  const groups = { directory: join(repoRoot, '.data/spec-groups'), isWanted: (spec) => specs.has(spec) };
  const args = ['--maxWorkers', '2', ...reporters];
  await verification.step('unit tests', () => jest(jestProjects(), { env: times.environment, args, groups }));
  if (withTimes) log.note(times.table().join('\n'));
  return verification.conclude(times.listFailures());
}
