import { setTimeout as delay } from 'node:timers/promises';
import { readProcess } from './process-table';
import { type ProcessOwners, RunProcesses } from './run-processes';
import type { Sandbox } from '../../provider/sandbox';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';

/** Programs with a name that no other process in a sandbox has. */
const programs = 'cp /usr/bin/sleep /tmp/daemon; cp /bin/bash /tmp/daemon-shell; cd /tmp; ';

const daemons = [
  ['a daemon in a session of its own', '(setsid ./daemon 1000 >/dev/null 2>&1 &)'],
  [
    'a daemon that forked twice and cleared its environment',
    `(env -i setsid bash -c './daemon 1000 & exit' >/dev/null 2>&1 &); sleep 0.2`,
  ],
  ['a daemon that keeps the output open', '(setsid ./daemon 1000 &)'],
  [
    'a daemon that ignores SIGTERM',
    `(env -i setsid ./daemon-shell -c 'trap "" TERM HUP INT; while :; do read -t 0.1; done' >/dev/null 2>&1 &)`,
  ],
  [
    'daemons that keep restarting each other',
    `printf '%s\n' 'trap "" TERM' '(env -i setsid ./daemon-shell again.sh >/dev/null 2>&1 &)' >again.sh
for i in 1 2 3; do (env -i setsid ./daemon-shell again.sh >/dev/null 2>&1 &); done; sleep 0.2`,
  ],
] as const;

/** Without those that are dead and that the first process has not yet waited for. */
const countDaemons = async (sandbox: Sandbox): Promise<number> => {
  const look = `cat /proc/[0-9]*/stat 2>/dev/null | grep -c '^[0-9]* (daemon[^)]*) [^ZX]'`;
  return Number((await run(sandbox, look, { session: 'looks' })).output);
};

/** A command may end before its background processes have called exec. */
async function untilAlive(sandbox: Sandbox, count: number): Promise<void> {
  while ((await countDaemons(sandbox)) !== count) await delay(20);
}

describe.each(['with control groups', 'without control groups'])('attack: sandbox processes and files', (how) => {
  let fixture: SandboxFixture;
  beforeAll(async () => {
    fixture = await SandboxFixture.open(how === 'without control groups' ? { controlGroupMount: '/nowhere' } : {});
    const { limits } = (await fixture.provider.probe()).details;
    expect(limits.cgroup === 'none').toBe(how === 'without control groups');
  });
  afterAll(() => fixture.close());

  it.each(daemons)(`a stop is escaped by %s (${how})`, async (_, command) => {
    const sandbox = await fixture.sandbox();
    await run(sandbox, programs + command, { id: 'call_daemon', run: 'run_1' });
    while ((await countDaemons(sandbox)) === 0) await delay(20);

    const ended = await fixture.provider.endRun(sandbox.id, 'run_1');

    expect(await countDaemons(sandbox)).toBe(0);
    expect(ended).toEqual([
      { commandId: 'call_daemon', processes: expect.any(Array), verifiedDeadAt: expect.any(String) },
    ]);
    expect(ended[0]?.processes.length).toBeGreaterThan(0);
  });

  it(`a stop is escaped by a job in the background (${how})`, async () => {
    const sandbox = await fixture.sandbox();
    await sandbox.start({ id: 'call_job', command: programs + './daemon 1000', session: 'server', run: 'run_1' });
    await untilAlive(sandbox, 1);

    const ended = await fixture.provider.endRun(sandbox.id, 'run_1');

    expect(ended.map(({ commandId }) => commandId)).toEqual(['call_job']);
    expect(await countDaemons(sandbox)).toBe(0);
    expect(await sandbox.read('server')).toMatchObject({ running: false, outcome: { ending: 'killed' } });
  });

  it(`a stop kills what an earlier run left running (${how})`, async () => {
    const sandbox = await fixture.sandbox();
    await run(sandbox, programs + '(setsid ./daemon 1000 >/dev/null 2>&1 &)', { run: 'run_1' });
    await sandbox.start({ id: 'call_server', command: '/tmp/daemon 2000', session: 'server', run: 'run_1' });
    await run(sandbox, '(env -i setsid /tmp/daemon 3000 >/dev/null 2>&1 &)', { run: 'run_2' });
    await untilAlive(sandbox, 3);

    await fixture.provider.endRun(sandbox.id, 'run_2');

    expect(await countDaemons(sandbox)).toBe(2);
    expect(await sandbox.read('server')).toMatchObject({ running: true });
    await fixture.provider.endRun(sandbox.id, 'run_1');
    expect(await countDaemons(sandbox)).toBe(0);
  });

  it(`a fork bomb outlives its command (${how})`, async () => {
    const sandbox = await fixture.sandbox();
    await run(
      sandbox,
      `${programs}(env -i setsid ./daemon-shell -c 'b() { b | b & }; b' >/dev/null 2>&1 &); sleep 0.3`,
      { run: 'run_1' },
    );

    await fixture.provider.endRun(sandbox.id, 'run_1');

    expect(await countDaemons(sandbox)).toBe(0);
  });

  it(`a run that continues after its end starts commands as before (${how})`, async () => {
    const sandbox = await fixture.sandbox();
    await run(sandbox, 'true', { run: 'run_1' });
    await fixture.provider.endRun(sandbox.id, 'run_1');

    await expect(run(sandbox, 'echo hello | cat', { run: 'run_1' })).resolves.toMatchObject({ output: 'hello\n' });
  });
});

describe('the end of a run', () => {
  it('reports a process that cannot be verified dead', async () => {
    const self = readProcess(process.pid);
    const immortal = { pid: 2 ** 22 + 1, parent: 1, name: 'immortal', startTicks: self?.startTicks ?? 0 };
    const nothing = () => Promise.resolve();
    const owners: ProcessOwners = { enter: nothing, of: () => [immortal], preventForks: nothing, allowForks: nothing };

    const ended = await new RunProcesses(owners, { init: 1, agent: 1 }).end('run_1', 0);

    expect(ended).toMatchObject({ dead: false, leftovers: [{ name: 'immortal' }] });
  });
});
