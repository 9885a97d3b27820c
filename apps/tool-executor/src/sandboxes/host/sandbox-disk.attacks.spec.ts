import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '../provider/sandbox';
import { run } from '../testing/run-command';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';

const mebibyte = 1024 * 1024;
const quota = { diskBytes: 40 * mebibyte, files: 3_000, diskCheckMs: 100, hardDisk: 'off' } as const;

const node = (script: string) => `node -e "${script}"; sleep 1000`;

describe('attack: sandbox resources', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    fixture = await SandboxFixture.open(quota);
  });
  beforeEach(async () => {
    sandbox = await fixture.sandbox();
  });
  afterAll(() => fixture.close());

  const bystander = async () => {
    const other = await fixture.sandbox();
    await other.start({ id: `job_${other.id}`, command: 'sleep 1000', session: 'job' });
    return { isAlive: async () => (await other.read('job')).running };
  };
  const ended = async (session: string) => {
    for (;;) {
      const { outcome } = await sandbox.read(session);
      if (outcome) return outcome;
      await delay(20);
    }
  };

  it.each([
    ['a job in the background', 'while :; do head -c 4M /dev/zero >>fill; sleep 0.02; done'],
    [
      'files that are deleted while they are open',
      'for i in 3 4 5 6 7 8 9; do eval "exec $i>fill$i"; rm fill$i; head -c 10M /dev/zero >&$i; done; sleep 1000',
    ],
    ['empty files', 'mkdir empty; cd empty; for i in $(seq 100); do touch $(seq -f "$i-%g" 100); done; sleep 1000'],
    [
      'empty directories, each in the last',
      node(`for (let i = 0; i < 4000; i++) { fs.mkdirSync('d'); process.chdir('d'); }`),
    ],
    [
      'links without end',
      node(`fs.mkdirSync('links'); for (let i = 0; i < 4000; i++) fs.symlinkSync('x', 'links/' + i)`),
    ],
    ['empty files in /tmp', 'cd /tmp; for i in $(seq 100); do touch $(seq -f "$i-%g" 100); done; sleep 1000'],
    ['empty files in /dev/shm', 'cd /dev/shm; for i in $(seq 100); do touch $(seq -f "$i-%g" 100); done; sleep 1000'],
  ])('the disk is filled by %s', async (_, command) => {
    const other = await bystander();
    await sandbox.start({ id: 'call_fill', command, session: 'fill' });
    await sandbox.start({ id: 'call_idle', command: 'sleep 1000', session: 'idle' });

    expect(await ended('fill')).toMatchObject({
      ending: 'killed',
      detail: expect.stringMatching(/over its (disk )?quota/),
    });
    expect(await ended('idle')).toMatchObject({ ending: 'killed' });
    expect(await other.isAlive()).toBe(true);
  });

  it('the disk is filled by a daemon that outlives its command', async () => {
    const fill = 'mkdir fill; cd fill; while :; do n=$((n+1)); head -c 4M /dev/zero >$n; sleep 0.02; done';
    await run(sandbox, `(env -i setsid bash -c '${fill}' >/dev/null 2>&1 &)`);

    const refused = (error: Error) => ({ ending: 'killed', detail: error.message }); // where it is over the quota already
    expect(await run(sandbox, 'sleep 1000').catch(refused)).toMatchObject({
      ending: 'killed',
      detail: expect.stringContaining('over its disk quota'),
    });
    await expect(run(sandbox, 'true')).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('over its disk quota'),
    });
    await expect(sandbox.files.write('more', 'more', { mode: 'put' })).rejects.toMatchObject({ code: 'failed' });

    await sandbox.files.delete('fill', { recursive: true });
    await expect(run(sandbox, 'ls')).resolves.toMatchObject({ ending: 'exit', output: '' });
    await sandbox.files.write('more', 'more', { mode: 'put' });
  });

  it('memory is filled by files in /dev', async () => {
    const { output } = await run(
      sandbox,
      'head -c 1M /dev/zero >/dev/fill; mkdir /dev/more; echo x >/dev/null && echo fine',
    );

    expect(output).toMatch(/Read-only file system.*Read-only file system.*fine/s);
  });

  it('10 GB of output', async () => {
    const outcome = await run(sandbox, 'head -c 10G /dev/zero');

    expect(outcome).toMatchObject({ ending: 'output-limit', truncated: true });
    await expect(run(sandbox, 'echo alive')).resolves.toMatchObject({ output: 'alive\n' });
  });

  it('a sparse file with holes takes what it takes, and no more', async () => {
    const outcome = await run(sandbox, 'truncate -s 900M holes && sleep 0.5 && echo fine');

    expect(outcome).toMatchObject({ ending: 'exit', output: 'fine\n' });
  });
});
