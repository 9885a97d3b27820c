import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ThreadId, accountId } from '@rondo/contract';
import { type NatsLink, accessSandbox, answerHosting, connectNats, requestAdoption } from '@rondo/messaging';
import { createLogger } from '@rondo/platform';
import { type Infrastructure, startInfrastructure } from '../../../../deploy/local/servers/infrastructure.mjs';
import { environment } from '../config';
import { type Executor, startExecutor } from '../start-executor';
import { CompiledExecutor } from '../testing/compiled-executor';
import { bubblewrapPath, sandboxRoot } from '../testing/executor-fixture';
import { ToolCaller } from '../testing/tool-caller';

const log = createLogger({ name: 'lost-executors-spec', level: 'silent' });

/** Statements after which the clock of a process says this time, and goes on. */
const shiftClock = (time: string) => `
  const shiftMs = Date.parse('${time}') - Date.now();
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now() + shiftMs] : given));
    }
    static now() {
      return RealDate.now() + shiftMs;
    }
  };`;

/** Two executors with one store of copies, at a NATS server of their own: this spec answers for all workers. */
describe('executors that are lost', () => {
  let infrastructure: Infrastructure;
  let nats: NatsLink;
  let compiled: CompiledExecutor;
  let folder: string;
  let roots: Record<'exe_1' | 'exe_2', string>;
  let process: ChildProcess | undefined;
  const executors: Executor[] = [];
  const callers: ToolCaller[] = [];
  /** As the database has it. */
  const hosts = new Map<ThreadId, string>();
  const hostedAt = new Map<ThreadId, string>();
  let answers: boolean;
  let asked: string[];

  beforeAll(async () => {
    const data = await mkdtemp('/var/tmp/rondo-nats-');
    const packagesDirectory = join(__dirname, '../../../../.data');
    const { PATH } = globalThis.process.env;
    infrastructure = await startInfrastructure({ dataDir: data, packagesDirectory, env: { PATH }, want: ['nats'] });
    nats = await connectNats({ url: natsUrl(), name: 'spec', log });
    compiled = await CompiledExecutor.build();
    answerHosting(nats, async (executor, threads, before) => {
      asked.push(...threads);
      if (!answers) throw new Error('the database is away');
      const isHosted = (thread: ThreadId) => hosts.get(thread) === executor;
      const isOld = (thread: ThreadId) => isHosted(thread) && (hostedAt.get(thread) ?? '') < (before ?? '');
      return {
        ...{ at: new Date().toISOString(), deleted: [] },
        moved: threads.filter((thread) => !isHosted(thread)),
        ...(before !== undefined && { hostedBefore: threads.filter(isOld) }),
      };
    });
  });
  afterAll(async () => {
    await compiled.remove();
    await nats.close();
    await infrastructure.stop();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lost-executors-'));
    roots = { exe_1: await sandboxRoot(), exe_2: await sandboxRoot() };
    [answers, asked] = [true, []];
  });
  afterEach(async () => {
    for (const { tools } of callers.splice(0)) tools.close(new Error('the spec is over'));
    process?.kill('SIGKILL');
    for (const executor of executors.splice(0)) await executor.close();
    for (const path of [folder, ...Object.values(roots)]) await rm(path, { recursive: true, force: true });
  });

  const natsUrl = () => infrastructure.env.NATS_URL ?? '';
  const createVariables = (id: 'exe_1' | 'exe_2') => ({
    ...{ PORT: '0', NATS_URL: natsUrl(), BWRAP_PATH: bubblewrapPath(), TOOL_DRAIN_S: '0', SANDBOX_IDLE_S: '1' },
    ...{ SANDBOX_ROOT: roots[id], EXECUTOR_ID: id, EXECUTOR_ID_FILE: join(roots[id], 'executor-id') },
    SANDBOX_SNAPSHOTS: `file://${folder}`,
  });
  const start = async (id: 'exe_1' | 'exe_2') => {
    executors.push(await startExecutor(environment.parse(createVariables(id)), log));
  };
  /** One that can be killed and stopped. */
  const startProcess = async (id: 'exe_1' | 'exe_2', clock?: string) => {
    const started = compiled.start(`
      ${clock === undefined ? '' : shiftClock(clock)}
      const { createLogger } = require('@rondo/platform');
      const { environment } = require(built + '/config');
      const { startExecutor } = require(built + '/start-executor');
      const log = createLogger({ name: 'lost', level: 'silent' });
      startExecutor(environment.parse(${JSON.stringify(createVariables(id))}), log).then(() => console.log('up'));
    `);
    process = started;
    await once(started.stdout, 'data');
  };
  const kill = async () => {
    const ended = once(process as ChildProcess, 'exit');
    process?.kill('SIGKILL');
    await ended;
  };
  const callerAt = (executor: string, thread?: ThreadId): ToolCaller => {
    const caller = new ToolCaller(nats, () => Promise.resolve(executor), thread);
    callers.push(caller);
    return caller;
  };
  const host = (thread: ThreadId) => {
    hosts.set(thread, 'exe_1');
    hostedAt.set(thread, new Date().toISOString());
  };
  const shell = async (caller: ToolCaller, command: string) => {
    const answer = await caller.execute('execute_command', { command, blocking: true });
    if (answer.how !== 'answered') throw new Error(`The call was not answered but ${answer.how}.`);
    return answer.result;
  };
  const readCopies = (thread: ThreadId) => readdir(join(folder, thread)).catch((): string[] => []);
  const adopted = async (threadId: ThreadId) => {
    while ((await requestAdoption(nats, 'exe_2', { threadId, from: 'exe_1' })) !== 'adopted') await sleep(20);
  };
  /** A thread of the first executor, in its process, whose files were copied. */
  const aCopiedThread = async () => {
    await startProcess('exe_1');
    const caller = callerAt('exe_1');
    host(caller.threadId);
    await shell(caller, 'echo kept > file; echo run > tool.sh; chmod 751 tool.sh');
    while (!(await readCopies(caller.threadId)).includes('exe_1.copy')) await sleep(20);
    return caller.threadId;
  };

  it('have their workspaces restored by another one, which says so once (I10)', async () => {
    const thread = await aCopiedThread();
    await kill();
    await start('exe_2');

    await adopted(thread);
    hosts.set(thread, 'exe_2');
    await adopted(thread); // the answer may have been lost

    const caller = callerAt('exe_2', thread);
    expect(await shell(caller, 'cat file')).toMatchObject({
      success: false,
      error: expect.stringContaining(
        'the executor that had this workspace is lost, or its disk. Its files were restored here as they were',
      ),
    });
    expect(
      await shell(caller, 'cat file; stat -c "%a %U" tool.sh; test -O tool.sh && echo own; echo more > file'),
    ).toMatchObject({
      success: true,
      output: expect.stringMatching(/^kept\n751 \S+\nown\n$/),
    });
    await adopted(thread);
    expect(await shell(caller, 'cat file')).toMatchObject({ output: 'more\n' });
  });

  it('restore what they had on a disk that was replaced, which they say once (I10)', async () => {
    const thread = await aCopiedThread();
    await kill();
    await rm(roots.exe_1, { recursive: true });
    roots.exe_1 = await sandboxRoot();
    await start('exe_1');

    const caller = callerAt('exe_1', thread);
    expect(await shell(caller, 'cat file')).toMatchObject({
      success: false,
      error: expect.stringContaining('is lost, or its disk. Its files were restored here'),
    });
    expect(await shell(caller, 'cat file')).toMatchObject({ success: true, output: 'kept\n' });
    expect(await readCopies(thread)).toEqual(['exe_1.copy']);
    const { threadId: later } = callerAt('exe_1');
    host(later);
    expect(await shell(callerAt('exe_1', later), 'ls | wc -l')).toMatchObject({ success: true, output: '0\n' });
  });

  it('restore it for a person who asks for the files before the agent does', async () => {
    const thread = await aCopiedThread();
    await kill();
    await rm(roots.exe_1, { recursive: true });
    roots.exe_1 = await sandboxRoot();
    await start('exe_1');

    const about = { thread_id: thread, account_id: accountId.parse('acc_1') };
    const list = () => accessSandbox(nats, { executorId: 'exe_1' }, { op: 'list', path: '.', depth: 1, ...about });
    const { head } = await list().catch(list); // after its second without use, the sandbox may be falling asleep

    expect(head.entries).toContainEqual({ path: 'file', kind: 'file', size: 5 });
  });

  it('restore what they had on a disk that was replaced while their clock was years behind', async () => {
    const thread = await aCopiedThread();
    await kill();
    await rm(roots.exe_1, { recursive: true });
    roots.exe_1 = await sandboxRoot();
    await startProcess('exe_1', '2001-01-01T00:00:00.000Z');

    expect(await shell(callerAt('exe_1', thread), 'cat file')).toMatchObject({
      success: false,
      error: expect.stringContaining('is lost, or its disk. Its files were restored here'),
    });
    const { threadId: later } = callerAt('exe_1');
    host(later);
    expect(await shell(callerAt('exe_1', later), 'ls | wc -l')).toMatchObject({ success: true, output: '0\n' });
  });

  it('refuse the calls of a thread that was moved when they return, and delete what they have of it', async () => {
    const thread = await aCopiedThread();
    await kill();
    await start('exe_2');
    await adopted(thread);
    hosts.set(thread, 'exe_2');

    await start('exe_1');

    expect(await shell(callerAt('exe_1', thread), 'echo wrong > file')).toMatchObject({
      success: false,
      error: 'Not executed: the workspace of this thread is on another executor now. Repeat the call.',
    });
    expect(existsSync(join(roots.exe_1, thread))).toBe(false);
    expect(await readCopies(thread)).toEqual(['exe_2.copy']);
    const caller = callerAt('exe_2', thread);
    await shell(caller, 'true'); // is told
    expect(await shell(caller, 'cat file')).toMatchObject({ output: 'kept\n' });
  });

  it('execute nothing after a restart until a worker says that the workspace is still here', async () => {
    const thread = await aCopiedThread();
    await kill();
    answers = false;
    asked = [];
    await start('exe_1');
    const caller = callerAt('exe_1', thread);
    let isAnswered = false;

    const answer = shell(caller, 'cat file; echo executed > done').finally(() => (isAnswered = true));
    while (asked.length < 3) await sleep(20);
    expect(isAnswered).toBe(false);
    expect(existsSync(join(roots.exe_1, thread, 'workspace', 'done'))).toBe(false);

    answers = true;
    expect(await answer).toMatchObject({ success: true, output: 'kept\n' });
    const before = asked.length;
    await shell(caller, 'cat file');
    expect(asked).toHaveLength(before);
  });

  it('ask again when they stood still', async () => {
    const thread = await aCopiedThread();
    const caller = callerAt('exe_1', thread);
    await shell(caller, 'true');
    const before = asked.length;

    process?.kill('SIGSTOP');
    const answer = shell(caller, 'cat file');
    await sleep(11_000); // longer than workers need to take it for lost, as far as it knows
    hosts.set(thread, 'exe_2');
    process?.kill('SIGCONT');

    expect(await answer).toMatchObject({
      success: false,
      error: expect.stringContaining('is on another executor now'),
    });
    expect(asked.length).toBeGreaterThan(before);
    expect(existsSync(join(roots.exe_1, thread))).toBe(false);
  });

  it('have whole workspaces restored after an executor was killed while it restored them', async () => {
    const thread = await aCopiedThread();
    await kill();
    await startProcess('exe_2');
    void requestAdoption(nats, 'exe_2', { threadId: thread, from: 'exe_1' });
    while (!existsSync(join(roots.exe_2, '.incoming'))) await sleep(1);
    await kill();
    await start('exe_2');

    await adopted(thread);
    hosts.set(thread, 'exe_2');

    const caller = callerAt('exe_2', thread);
    expect(await shell(caller, 'cat file')).toMatchObject({ success: false });
    expect(await shell(caller, 'cat file; stat -c %a tool.sh')).toMatchObject({ output: 'kept\n751\n' });
  });
});
