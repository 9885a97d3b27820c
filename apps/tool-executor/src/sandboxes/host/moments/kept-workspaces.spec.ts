import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../../provider/sandbox';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';
import { run } from '../../testing/run-command';
import { canMountFiles } from '../testing/loop-devices';
import type { Moments } from './moments';

const kinds = canMountFiles() ? (['auto', 'off'] as const) : (['off'] as const);

describe.each(kinds)('moments of a workspace whose disk is a mounted file: %s', (hardDisk) => {
  let fixture: SandboxFixture;
  let moments: Moments;
  let sandbox: Sandbox;
  beforeAll(async () => {
    fixture = await SandboxFixture.open({ hardDisk, rewindBytes: 256 * 1024 * 1024, diskBytes: 256 * 1024 * 1024 });
  });
  beforeEach(async () => {
    sandbox = await fixture.sandbox();
    moments = fixture.provider.moments as Moments; // the fixture has asked for them
  });
  afterAll(() => fixture.close());

  async function kept(call: string, command: string): Promise<void> {
    const end = await moments.enter(sandbox.id, { run: 'run_1', call, labels: {} });
    await run(sandbox, command);
    end();
  }
  const show = async (thread = sandbox.id) =>
    (await run(await fixture.sandbox(thread), 'find . -printf "%P %y %m %u %l\\n" | sort; cat a b/c 2>&1')).output;

  it('come back as commands have left them, with their owner, and end what runs', async () => {
    await kept('call_1', 'echo one > a; mkdir -m 700 b; echo deep > b/c; chmod 4755 b/c; ln -s /etc/passwd l');
    const then = await show();
    await kept('call_2', 'rm -r b l; echo two > a; (setsid sleep 1000 > /dev/null 2>&1 &)');

    await moments.bringBack(sandbox.id, { of: sandbox.id, moment: 'call_1', run: 'run_2', labels: {} });
    expect(await show()).toBe(then);
    expect((await run(await fixture.sandbox(sandbox.id), 'pgrep -c sleep')).output).toBe('0\n');
    const fork = `${sandbox.id}f`;
    await moments.bringBack(fork, { of: sandbox.id, moment: 'call_1', run: 'run_3', labels: {} });
    expect(await show(fork)).toBe(then);
    await expect(run(await fixture.sandbox(fork), 'echo mine > b/c && cat b/c')).resolves.toMatchObject({
      output: 'mine\n',
    });
  });

  it('come back as they were before the first call of a run, with nothing', async () => {
    await kept('call_1', 'mkdir -p src; echo one > src/file; ln -s file src/link; chmod 750 src/file');
    await kept('call_2', 'echo two > src/file; touch new; rm src/link');
    await moments.bringBack(sandbox.id, { of: sandbox.id, moment: 'run_1', run: 'run_2', labels: {} });
    expect((await run(await fixture.sandbox(sandbox.id), 'find . | sort')).output).toBe('.\n');
  });

  it('are known after a restart, and are deleted with the workspace', async () => {
    await kept('call_1', 'echo one > a');
    await moments.find(sandbox.id, []);
    await fixture.restart();
    moments = fixture.provider.moments as Moments;
    sandbox = await fixture.sandbox(sandbox.id);
    await kept('call_2', 'echo two > a');
    await moments.bringBack(sandbox.id, { of: sandbox.id, moment: 'call_1', run: 'run_2', labels: {} });
    expect((await run(await fixture.sandbox(sandbox.id), 'cat a')).output).toBe('one\n');

    const store = join(fixture.root, '.moments', sandbox.id);
    expect(await readdir(store)).toContain('moments.jsonl');
    await fixture.provider.remove(sandbox.id);
    expect(existsSync(store)).toBe(false);
  });

  it('are where no command reaches them', async () => {
    await kept('call_1', 'echo secret-of-then > a');
    await moments.find(sandbox.id, []);
    const other = await fixture.sandbox();
    const { output } = await run(
      other,
      `ls ${fixture.root} ${fixture.root}/.moments; find / -name '*.jsonl' 2>/dev/null | head`,
    );
    expect(output).not.toContain('moments.jsonl');
    expect(output).toContain('No such file');
  });
});
