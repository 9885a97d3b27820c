import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CompiledExecutor, firstOutput } from '../../testing/compiled-executor';
import { diesWithin } from './processes/process-liveness';
import type { SandboxSettingsInput } from '../provider/sandbox-settings';
import { listDescendants } from '../testing/descendants';
import { run } from '../testing/run-command';
import { describeSandboxProvider } from '../testing/sandbox-provider.contract';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';

/** The death of one may end others before their turn has come. */
const killAll = (pids: readonly number[]) => spawnSync('kill', ['-KILL', ...pids.map(String)]);

describeSandboxProvider('embedded, with prepared sandboxes', async (limits) => {
  const fixture = await SandboxFixture.open({ ...limits, prepared: 2 });
  await ready(fixture, 2);
  return fixture;
});

describe('prepared sandboxes', () => {
  let fixture: SandboxFixture;
  let others: number[] = [];
  const open = async (settings: Partial<SandboxSettingsInput>) => {
    others = listDescendants(process.pid);
    fixture = await SandboxFixture.open(settings);
    await ready(fixture, settings.prepared ?? 0);
  };
  afterEach(() => fixture.close());

  const processes = () => listDescendants(process.pid).filter((pid) => !others.includes(pid));
  const prepared = async () => (await readdir(fixture.root)).filter((name) => name.startsWith('prepared-'));

  it('become that of a thread at its first use, each of one thread only, and are replaced', async () => {
    await open({ prepared: 2 });
    const [one, other] = [await fixture.sandbox('thr_one'), await fixture.sandbox('thr_other')];
    expect(await fixture.provider.list()).toEqual([]);

    await Promise.all([run(one, 'echo mine > file'), run(other, 'true')]);

    expect(fixture.provider.countPrepared().bound).toBe(2);
    await expect(run(other, 'ls -A; id -un; pwd')).resolves.toMatchObject({ output: 'agent\n/workspace\n' });
    expect((await fixture.provider.list()).map(({ threadId, state }) => `${threadId} ${state}`).sort()).toEqual([
      'thr_one awake',
      'thr_other awake',
    ]);
    await ready(fixture, 2);
    expect(await prepared()).toHaveLength(2);
  });

  it('leave the thread a workspace like any other: files, labels and uid outlive the executor (I10)', async () => {
    await open({ prepared: 1, install: 'spec' });
    const before = await fixture.provider.get('thr_kept', { account: 'acc_1', run: 'run_1' });
    await run(before, 'echo kept > file');
    const owner = (await stat(join(fixture.root, 'thr_kept/workspace'))).uid;
    await fixture.restart();

    expect(await fixture.provider.list()).toEqual([
      {
        threadId: 'thr_kept',
        state: 'asleep',
        labels: { install: 'spec', account: 'acc_1', run: 'run_1', thread: 'thr_kept' },
      },
    ]);
    await expect(run(await fixture.sandbox('thr_kept'), 'cat file; stat -c %U file')).resolves.toMatchObject({
      output: 'kept\nagent\n',
    });
    expect((await stat(join(fixture.root, 'thr_kept/workspace'))).uid).toBe(owner);

    await fixture.provider.remove('thr_kept');
    const claims = await readdir(join(fixture.root, '.uids')).catch(() => []);
    expect(claims).not.toContain(String(owner));
  });

  it('are not for threads that have files', async () => {
    await open({ prepared: 1 });
    await run(await fixture.sandbox('thr_old'), 'echo old > file');
    await fixture.provider.putToSleep('thr_old');
    await ready(fixture, 1);

    await expect(run(await fixture.sandbox('thr_old'), 'cat file')).resolves.toMatchObject({ output: 'old\n' });
    expect(fixture.provider.countPrepared()).toEqual({ ready: 1, bound: 1 });
  });

  it('count as awake, and give way to the sandboxes of threads', async () => {
    await open({ prepared: 2, maxAwake: 2 });
    await run(await fixture.sandbox('thr_old'), 'true');
    await fixture.provider.putToSleep('thr_old');
    await ready(fixture, 2);

    await run(await fixture.sandbox('thr_old'), 'true');
    expect(fixture.provider.countPrepared()).toEqual({ ready: 1, bound: 1 });
    await run(await fixture.sandbox('thr_new'), 'true');
    expect(fixture.provider.countPrepared()).toEqual({ ready: 0, bound: 2 });
    expect(await prepared()).toEqual([]);

    await fixture.provider.putToSleep('thr_old');
    await ready(fixture, 1);
  });

  it('that died are not given to a thread, and others take their place', async () => {
    await open({ prepared: 1 });
    const [id = ''] = await prepared();
    killAll(processes());

    await expect(run(await fixture.sandbox(), 'echo works')).resolves.toMatchObject({ output: 'works\n' });
    await ready(fixture, 1);
    expect(await prepared()).not.toContain(id);
  });

  it('have the way out of their thread: its rules, and its rate', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    fixture = await SandboxFixture.open(
      { prepared: 1, egress: { requestsPerSecond: 1 } },
      { resolve: () => Promise.resolve(['127.0.0.2']), isAllowed: (address) => address === '127.0.0.2' },
    );
    await ready(fixture, 1);
    const sandbox = await fixture.sandbox('thr_out');
    const get = () => run(sandbox, `curl -s -m 5 -o /dev/null -w '%{http_code}' http://public.example:${port}/`);

    await expect(get()).resolves.toMatchObject({ output: '200' });
    expect(fixture.provider.countPrepared().bound).toBe(1);
    const gate = fixture.provider.toEgress('thr_out');
    const spend = async () => {
      for (;;) await gate.admit({ hostname: 'public.example', port });
    };
    await expect(spend()).rejects.toThrow('Too many requests');
    await expect(get()).resolves.toMatchObject({ output: '429' });
    server.closeAllConnections();
    server.close();
  });

  it('are gone after a shutdown, processes and files', async () => {
    await open({ prepared: 2 });
    const running = processes();
    expect(running.length).toBeGreaterThan(3);
    await fixture.provider.close();

    expect(await prepared()).toEqual([]);
    expect(await readdir(join(fixture.root, '.uids')).catch(() => [])).toEqual([]);
    for (const pid of running) expect(await diesWithin(pid, 10_000)).toBe(true);
  });

  it('of an executor that was killed are removed by the next one, also where it prepares none', async () => {
    fixture = await SandboxFixture.open();
    const compiled = await CompiledExecutor.build();
    const child = compiled.start(`
      const { createSandboxProvider } = require(built + '/sandboxes');
      (async () => {
        const settings = ${JSON.stringify({ ...fixture.settings, prepared: 1 })};
        const provider = createSandboxProvider(settings, { info() {}, warn(fields, text) { console.error(text, fields); } });
        await provider.probe();
        while (provider.countPrepared().ready < 1) await new Promise((resolve) => setTimeout(resolve, 10));
        console.log('up');
      })();`);
    await firstOutput(child);
    const orphans = listDescendants(child.pid ?? 0);
    expect(await prepared()).toHaveLength(1);

    child.kill('SIGKILL');
    await once(child, 'exit');
    for (const pid of orphans) expect(await diesWithin(pid, 10_000)).toBe(true);
    await fixture.restart();
    await fixture.provider.close();

    expect(await prepared()).toEqual([]);
    expect(await readdir(join(fixture.root, '.uids')).catch(() => [])).toEqual([]);
    await compiled.remove();
  });
});

/** Until so many are ready. */
async function ready({ provider }: SandboxFixture, count: number): Promise<void> {
  await provider.probe();
  while (provider.countPrepared().ready < count) await delay(10);
}
