import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AttackList } from './tests/attack-list.mjs';
import { runCommand } from './command.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { SpecTimes } from './tests/spec-times.mjs';
import { startTestServers } from './servers/test-servers.mjs';
import { checks, jest, jestProjects, Verification } from './checks/verification.mjs';

const help = `npm test               everything: format, build, types, lint, words, documents, all tests against real servers
npm test -- <pattern>  only the tests whose path matches the pattern
npm test -- --times    also prints which spec files took longest, and which used most of a processor
npm run test:fast      only the unit and contract tests, which need no servers
npm run models         only the tests of model providers, and the table of docs/models.md written anew
npm run attacks        only the tests that attack, and docs/attacks.md written anew
npm run attacks -- --neighbour [--minutes 60]   a hostile tenant beside an ordinary one, which must hardly notice

The servers are started for the tests alone, on free ports; those of a running Rondo are not touched.`;

const faults = ['chaos', 'bench'];
const staticChecks = ['words', 'documents', 'circles', 'small files', 'client types', 'format', 'types', 'lint'];
const withDeployments = ['e2e', ...faults];
const jestSteps = ['tests', 'faults, bench', 'end to end'];
const onlyAttacks = process.argv.includes('--attacks');
const onlyModels = process.argv.includes('--models');
/** In a group, the path of the spec stands before the name of its test. */
const attacksAlone = onlyAttacks ? ['--testNamePattern', '(^|spec\\.ts )attack: '] : [];
const withTimes = process.argv.includes('--times');
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const patterns = (onlyModels ? ['strict-providers.e2e'] : given).map((pattern) => new RegExp(pattern, 'i'));

/** So many spec files that failed are run again. More are no accident of a busy machine, even if it is a slow one. */
const mostAgain = 5;

/** Less than a CI waits, which would end this command without a word. */
const limitMs = 85 * 60_000;

const verification = new Verification();

if (process.argv.includes('--help')) console.log(help);
else if (process.argv.includes('--neighbour')) await besideHostileTenant();
else await runCommand(withinLimit, { log, codeWhenInterrupted: 130 });

/** It is an experiment of the chaos campaign, which this process becomes. */
async function besideHostileTenant() {
  const options = process.argv.slice(2).filter((argument) => !['--attacks', '--neighbour'].includes(argument));
  process.argv.splice(2, Infinity, 'chaos', '--only', 'neighbour', ...options);
  await import('./run-app.mjs');
}

async function withinLimit(command) {
  const ended = new AbortController();
  const late = setTimeout(limitMs, undefined, { signal: ended.signal }).then(() => {
    const running = verification.running.join(', ') || 'the preparation or the end';
    throw new Error(`Not ended after ${limitMs / 60_000} minutes. What still ran: ${running}.`);
  });
  return Promise.race([test(command), late]).finally(() => ended.abort());
}

async function test({ owns }) {
  requireNode();
  await installPackages(repoRoot, log);
  const { testDir, ...servers } = await startTestServers(owns);
  const attacks = new AttackList(testDir);
  const times = new SpecTimes(testDir);
  const isWhole = patterns.length === 0 && !onlyAttacks;
  const options = {
    env: {
      ...servers.env,
      ...attacks.environment,
      ...times.environment,
      ...(onlyModels && { WRITE_MODELS_TABLE: '1' }),
    },
    args: ['--reporters', 'default', ...attacks.jestArguments, ...times.jestArguments, ...attacksAlone],
    toGroups: (step) => ({ directory: join(testDir, 'spec-groups', step), isWanted }),
  };
  const isBuilt = await verification.step('build', checks.build);

  // Two lanes, because tests spend about half of their time waiting: for servers, for leases, for each other.
  await Promise.all([testLane(options), deploymentLane({ ...options, isWhole, isBuilt })]);
  const unfinished = times.listUnfinished();
  if (unfinished.length > 0) log.note(['\n  spec files that did not end', ...unfinished].join('\n    '));
  else if (isWhole && isBuilt) await again(times, options);
  if (isWhole || onlyAttacks) await verification.step('attacks', () => attackTable(attacks));
  if (withTimes) log.note(times.table().join('\n'));
  return verification.conclude(times.listFailures());
}

/** The tests that share the servers of this command. They take as long as everything in the other lane. */
async function testLane({ env, args, toGroups }) {
  const projects = jestProjects().filter((project) => !withDeployments.includes(project));
  const groups = toGroups('tests');
  await verification.step('tests', () => jest(projects, { env, args: ['--maxWorkers', '2', ...args], groups }));
}

/** What needs no server, then the tests that start whole deployments. */
async function deploymentLane({ env, args, toGroups, isWhole, isBuilt }) {
  if (isWhole) for (const name of staticChecks) await verification.step(name, checks[name]);
  if (!isBuilt) return;
  const step = (name, projects, more) =>
    verification.step(name, () => jest(projects, { env, args: [...more, ...args], groups: toGroups(projects[0]) }));
  await step('faults, bench', faults, ['--runInBand', '--forceExit']);
  await step('end to end', ['e2e'], ['--maxWorkers', '2']);
}

/**
 * Runs the spec files that failed once more, with the machine to themselves (decision 129). What passes now is named, and is a
 * fault of the test or a rare one of the product: it is to be found, but it does not say that this version is worse.
 */
async function again(times, { env, args }) {
  const specs = times.listFailedSpecs();
  if (specs.length === 0 || specs.length > mostAgain || specs.some((spec) => spec.startsWith('.data/'))) return;
  const failures = times.listFailures();
  const alone = ['--runInBand', '--forceExit', '--runTestsByPath', ...specs, ...args];
  const passes = await verification.step('again, alone', () => jest(jestProjects(), { env, args: alone }));
  if (!passes) return;
  verification.accept(jestSteps);
  log.note(['\n  PASSED ONLY WHEN RUN AGAIN, ALONE', ...failures].join('\n'));
}

/** Prints how many attacks were tried and blocked, and compares them with docs/attacks.md. */
async function attackTable(attacks) {
  log.note(attacks.summary());
  if (onlyAttacks) attacks.writeDocument();
  else attacks.compareWithDocument();
}

/** A pattern is looked for in the whole path, as jest does. */
function isWanted(spec) {
  const path = join(repoRoot, spec);
  return patterns.length === 0 || patterns.some((pattern) => pattern.test(path));
}
