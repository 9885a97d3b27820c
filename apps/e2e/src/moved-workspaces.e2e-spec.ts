import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { type Fact, type RondoClient, type RunView, RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { expectWholeLog } from './log-expectations';

const executors = ['tool-executor', 'tool-executor-2'] as const;
type Executor = (typeof executors)[number];

describe('the workspace of a thread whose executor is lost (I5)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let disks: string;

  beforeAll(async () => {
    disks = mkdtempSync('/var/tmp/rondo-disks-');
    for (const name of [...executors, 'copies']) mkdirSync(join(disks, name));
    for (const directory of [disks, ...executors.map((name) => join(disks, name))]) chmodSync(directory, 0o711); // for the users of sandboxes
    const onDisk = (name: Executor, firstUid: string) => ({
      ...{ SANDBOX_ROOT: join(disks, name), SANDBOX_FIRST_UID: firstUid, SANDBOX_IDLE_S: '1' },
      ...{ SANDBOX_SNAPSHOTS: `file://${join(disks, 'copies')}`, SANDBOX_RECONCILE_S: '1' },
    });
    rondo = await RunningRondo.start({
      instances: ['demo-model', ...executors.map(() => 'tool-executor' as const), 'agent-worker', 'gateway'],
      settings: {
        'agent-worker': { EXECUTOR_LOST_AFTER_S: '15' },
        'tool-executor': onDisk('tool-executor', '300000'),
        'tool-executor-2': onDisk('tool-executor-2', '400000'),
      },
    });
    client = rondo.client();
  });

  afterAll(async () => {
    await rondo.stop();
    rmSync(disks, { recursive: true, force: true });
  });

  const run = async (threadId: string | undefined, commands: readonly string[]): Promise<RunView> => {
    const turns = [...commands.map((line) => ({ calls: [command(line)] })), { text: 'Done.' }];
    const created = await client.createRun({
      ...scriptInput(`moved ${commands.join(' ')}`, turns),
      ...(threadId !== undefined && { thread_id: threadId }),
    });
    return client.waitForRun(created.id, 110_000);
  };

  const hasFiles = (executor: Executor, threadId: string) => existsSync(join(disks, executor, threadId));
  const toHost = (threadId: string): Executor => {
    const host = executors.find((executor) => hasFiles(executor, threadId));
    if (!host) throw new Error('no executor has files of the thread');
    return host;
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await delay(100); // the test's own time limit ends it
  };
  const listResults = (facts: readonly Fact[]) =>
    facts.flatMap(({ type, data }) =>
      type === 'tool.completed' || type === 'tool.failed' ? [JSON.stringify(data.result)] : [],
    );

  it('moves with its last copy; the model is told, and the frozen executor that comes back runs nothing of it', async () => {
    const first = await run(undefined, ['echo kept > file; mkdir -m 700 private; echo $RANDOM > private/secret']);
    expect(first).toMatchObject({ status: 'completed' });
    const thread = first.thread_id;
    await until(() =>
      readdirSync(join(disks, 'copies'), { recursive: true }).some((name) => /^thr_.*\.copy$/.test(String(name))),
    );
    const lost = toHost(thread);
    const frozen = rondo.services.get(lost);
    await frozen.kill('SIGSTOP');

    const second = await run(thread, ['cat file', 'cat file; stat -c %a private; echo more >> file']);

    expect(second).toMatchObject({ status: 'completed' });
    const facts = await client.facts(second.id);
    expectWholeLog(facts);
    const [told, seen] = listResults(facts);
    expect(told).toContain('Not executed');
    expect(told).toContain('lost');
    expect(seen).toContain('kept\\n700');
    const next = executors.find((executor) => executor !== lost);
    expect(next && hasFiles(next, thread)).toBe(true);

    await frozen.kill('SIGCONT');
    await until(() => !hasFiles(lost, thread));
    const third = await run(thread, ['cat file']);
    expect(listResults(await client.facts(third.id))[0]).toContain('kept\\nmore');
  });
});
