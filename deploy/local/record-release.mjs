import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { runCommand } from './command.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';
import { findVersionBefore } from './servers/schema-versions.mjs';
import { startTestServers } from './servers/test-servers.mjs';
import { checks, jest, Verification } from './checks/verification.mjs';

/**
 * `npm run record-release` records the SQL statements of this version, the messages that it sends over NATS and Redis, what its
 * services may do on the servers, and the settings of its runs.
 * The next version is tested against them, because services of both versions run at the same time during an upgrade.
 */
await runCommand(record, { log, codeWhenInterrupted: 130 });

async function record({ owns }) {
  requireNode();
  await installPackages(repoRoot, log);
  const { env } = await startTestServers(owns);
  const directory = mkdtempSync(join(tmpdir(), 'rondo-release-'));
  owns({ stop: () => rmSync(directory, { recursive: true }) });
  const commit = await readCleanCommit();
  const recording = { directory, env: { ...env, RECORD_RELEASE: directory } };

  const verification = new Verification();
  if (await verification.step('build', checks.build)) {
    await verification.step('statements', () => recordStatements(recording));
    await verification.step('messages', () => recordMessages(recording));
    await verification.step('rights', () => recordVersion(commit));
  }
  return verification.conclude();
}

/** The statements that the tests of libs/persistence execute; they cover all of them. */
async function recordStatements({ directory, env }) {
  const args = ['--maxWorkers', '2', '--setupFilesAfterEnv', join(import.meta.dirname, 'tests/record-statements.cjs')];
  const output = await jest(['persistence'], { env, args });
  const lines = readdirSync(directory)
    .filter((name) => name.startsWith('statements-'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'));
  const statements = [...new Set(lines)].map((line) => JSON.parse(line)).sort();
  await write('prisma/released-statements.json', { version: version(), statements });
  return output;
}

/** The messages that services send in a deployment. */
async function recordMessages({ directory, env }) {
  const { default: messaging } = await import('../../libs/messaging/dist/released/wire-messages.js');
  const messages = messaging.wireStructures();
  writeFileSync(join(directory, 'structures.json'), JSON.stringify({ messages }));
  const output = await jest(['e2e'], { env, args: ['--testPathPatterns', 'released-messages'] });
  const examples = JSON.parse(readFileSync(join(directory, 'examples.json'), 'utf8'));
  for (const [kind, message] of Object.entries(messages)) message.examples = examples[kind];
  await write('libs/messaging/src/released/released-messages.json', { version: version(), messages });
  return output;
}

/** What services may do on NATS and Postgres, the streams there, and the settings of stored runs. */
async function recordVersion(commit) {
  const { default: messaging } = await import('../../libs/messaging/dist/released/settings-changes.js');
  const { default: toolCalls } = await import('../../libs/messaging/dist/tool-calls/tool-streams.js');
  const { default: subjects } = await import('../../libs/messaging/dist/connection/subjects.js');
  const streams = toolCalls.toolStreamConfigs(subjects.wireNames());
  const [nats, grants] = ['deploy/nats-permissions.json', 'prisma/grants.json'].map(read);
  const settings = messaging.settingsStructure();
  const previous = findVersionBefore(version(), read('deploy/released-version.json'));
  await write('deploy/released-version.json', {
    version: version(),
    previous,
    commit,
    nats,
    streams,
    grants,
    settings,
  });
}

/** `npm run chaos -- --only upgrade` builds the services of this commit and runs them beside those of the next version. */
async function readCleanCommit() {
  const { stdout: changes } = await run('git', ['status', '--porcelain'], { cwd: repoRoot });
  if (changes !== '') throw new Error(`A release is recorded of a commit, and these files differ from it:\n${changes}`);
  const { stdout } = await run('git', ['rev-parse', 'HEAD'], { cwd: repoRoot });
  return stdout.trim();
}

function version() {
  return read('package.json').version;
}

function read(path) {
  return JSON.parse(readFileSync(join(repoRoot, path), 'utf8'));
}

async function write(path, content) {
  const file = join(repoRoot, path);
  const text = await format(JSON.stringify(content), { ...(await resolveConfig(file)), filepath: file });
  writeFileSync(file, text);
}
