import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { TermsInUse } from '../egress/terms-in-use';
import { readUntil, run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { DockerFixture } from './testing/docker-fixture';

const createRoute = 'POST /containers/create';

describe('the docker provider', () => {
  let fixture: DockerFixture;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer((_, response) => response.end('from outside')).listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as { port: number }; // it listens on TCP
    url = `http://public.example:${port}/`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(async () => {
    const egress = { resolve: async () => ['127.0.0.2'], isAllowed: (address: string) => address === '127.0.0.2' };
    fixture = await DockerFixture.open({}, egress);
    await fixture.provider.probe();
    fixture.engine.created.length = 0;
  });
  afterEach(() => fixture.close());

  it('asks for a container that may do as little as possible, with labels in the request itself', async () => {
    const thread = newThreadId();
    await run(await fixture.provider.get(thread, { account: 'acc', run: 'run_1', epoch: '3' }), 'true');

    const [request] = fixture.engine.created;
    expect(request?.HostConfig).toMatchObject({
      ...{ NetworkMode: 'none', ReadonlyRootfs: true, Privileged: false, CapDrop: ['ALL'] },
      ...{ SecurityOpt: ['no-new-privileges:true'], AutoRemove: true },
      ...{ Memory: 2_147_483_648, MemorySwap: 2_147_483_648, PidsLimit: 256, NanoCpus: 2_000_000_000 },
    });
    expect(request?.HostConfig.Mounts.filter(({ ReadOnly }) => !ReadOnly).map(({ Target }) => Target)).toEqual([
      '/workspace',
    ]);
    expect(request?.Labels).toMatchObject({
      ...{ 'rondo.install': 'spec', 'rondo.account': 'acc', 'rondo.thread': thread },
      ...{ 'rondo.run': 'run_1', 'rondo.epoch': '3' },
    });
  });

  it('asks for the size that a run names, unless the engine cannot limit it', async () => {
    const thread = newThreadId();
    const terms = new TermsInUse(fixture.provider);
    const end = await terms.hold(thread, { size: { cpus: 0.5, memory_mb: 512 } });
    await run(await fixture.provider.get(thread), 'true');
    end();

    expect(fixture.engine.created[0]?.HostConfig).toMatchObject({
      ...{ Memory: 536_870_912, MemorySwap: 536_870_912, NanoCpus: 500_000_000, PidsLimit: 256 },
    });
    const other = await DockerFixture.open();
    other.engine.about = { ...other.engine.about, CpuCfsQuota: false };
    await expect(new TermsInUse(other.provider).hold(thread, { size: { cpus: 0.5 } })).rejects.toThrow(
      /`size.cpus`: is not limited here\.$/,
    );
    await other.close();
  });

  it('gives a sandbox no more than the host of the engine has, and says so of a size that names more', async () => {
    const other = await DockerFixture.open({ cpu: 64, memoryBytes: 64 * 1024 ** 3 });
    const { usable, capabilities } = await other.provider.probe();
    expect({ usable, size: capabilities.size }).toMatchObject({ usable: true, size: { cpus: 4, memory_mb: 8_192 } });

    const hold = (size: object) => new TermsInUse(other.provider).hold(newThreadId(), { size });
    await expect(hold({ cpus: 8 })).rejects.toThrow('`size.cpus`: must be at most 4 on this deployment (SANDBOX_CPU');
    await expect(hold({ memory_mb: 16_384 })).rejects.toThrow('at most 8192 on this deployment (SANDBOX_MEMORY_MB');
    await other.close();
  });

  it('gives commands no root, no socket of the engine and no network but the proxy', async () => {
    const sandbox = await fixture.provider.get(newThreadId());

    const { output } = await run(sandbox, 'id -u; tail -n +3 /proc/net/dev | cut -d: -f1; touch /etc/x; env');
    expect(output).toMatch(/^[1-9]\d*\n *lo\n.*Read-only file system/);
    expect(output).not.toContain(fixture.engine.socketPath);
    await expect(run(sandbox, `ls ${fixture.engine.socketPath} ${fixture.settings.root}`)).resolves.toMatchObject({
      exitCode: 2,
    });
    await expect(run(sandbox, `curl -sS -m 5 ${url}`)).resolves.toMatchObject({ output: 'from outside' });
    const direct = url.replace('public.example', '127.0.0.2');
    await expect(run(sandbox, `curl -sS -m 5 --noproxy "*" ${direct}`)).resolves.toMatchObject({ exitCode: 7 });
  });

  it('starts commands where /tmp is full, and keeps what their session has', async () => {
    const sandbox = await fixture.provider.get(newThreadId());
    await run(sandbox, 'mkdir folder; cd folder; export KEPT=kept; head -c 300M /dev/zero > /tmp/full');

    await expect(run(sandbox, 'echo $KEPT', { session: 'default' })).resolves.toMatchObject({
      output: 'kept\n',
      cwd: '/workspace/folder',
    });
  });

  it('deletes a container that an executor has left which died, and finds the files', async () => {
    const thread = newThreadId();
    const sandbox = await fixture.provider.get(thread);
    await sandbox.start({ id: 'job', session: 'job', command: 'echo x > kept; echo up; sleep 60' });
    await readUntil(sandbox, 'job', { text: 'up' });

    const next = fixture.another();
    await next.probe();

    expect(fixture.engine.running).toEqual([]);
    await expect(run(await next.get(thread), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
    await next.close();
  });

  it('reports a command as lost when its container dies, and boots another one at the next use', async () => {
    const sandbox = await fixture.provider.get(newThreadId());
    let started = (): void => undefined;
    const hasStarted = new Promise<void>((resolve) => (started = resolve));
    const outcome = run(sandbox, 'echo up; sleep 60', { output: () => started() });
    await hasStarted;

    await fixture.engine.killAll();

    await expect(outcome).resolves.toMatchObject({ ending: 'sandbox-lost', output: 'up\n' });
    await expect(run(sandbox, 'echo again')).resolves.toMatchObject({ output: 'again\n' });
  });

  it('holds calls while the engine restarts', async () => {
    const sandbox = await fixture.provider.get(newThreadId());
    await run(sandbox, 'echo x > kept');
    await sandbox.stop();
    fixture.engine.isAway = true;

    const calls = [run(sandbox, 'cat kept'), sandbox.files.read('kept').then(({ content }) => content.toString())];
    while (fixture.engine.broken < 4) await once(fixture.engine, 'broken');
    fixture.engine.isAway = false;

    await expect(Promise.all(calls)).resolves.toMatchObject([{ output: 'x\n' }, 'x\n']);
  });

  it('ends a call that is stopped while the engine is away', async () => {
    const sandbox = await fixture.provider.get(newThreadId());
    fixture.engine.isAway = true;
    const stop = new AbortController();
    const call = run(sandbox, 'true', { signal: stop.signal });
    await once(fixture.engine, 'broken');

    stop.abort();

    await expect(call).rejects.toMatchObject({ code: 'unavailable' });
    fixture.engine.isAway = false;
  });

  it('ends its containers when it is closed', async () => {
    await run(await fixture.provider.get(newThreadId()), 'true');
    expect(fixture.engine.running).toHaveLength(1);

    await fixture.provider.close();

    expect(fixture.engine.running).toEqual([]);
  });

  it.each([createRoute, 'POST /containers/:id/start', 'GET /containers/:id/json'])(
    'leaves nothing behind where the engine fails at %s, and tries again at the next use',
    async (route) => {
      const sandbox = await fixture.provider.get(newThreadId());
      fixture.engine.faults.push({ route, status: 500 });

      await expect(run(sandbox, 'true')).rejects.toMatchObject({ code: 'unavailable' });
      expect(fixture.engine.running).toEqual([]);

      await expect(run(sandbox, 'echo done')).resolves.toMatchObject({ output: 'done\n' });
    },
  );

  it.each([
    ['an old engine', { oldest: '1.12', newest: '1.41' }, '/v1.41/'],
    ['an engine of today', { oldest: '1.44', newest: '1.52' }, '/v1.51/'],
    ['a later engine that has given up what this executor knows', { oldest: '1.60', newest: '1.66' }, '/v1.60/'],
  ])('agrees on a version of the API with %s', async (_, versions, prefix) => {
    const other = await DockerFixture.open();
    other.engine.versions = versions;

    await expect(other.provider.probe()).resolves.toMatchObject({ usable: true });
    expect(other.engine.asked.filter((path) => !path.startsWith(prefix))).toEqual(['/version']);
    await other.close();
  });

  it('agrees again after the engine was replaced by another release', async () => {
    fixture.engine.versions = { oldest: '1.12', newest: '1.41' };
    const sandbox = await fixture.provider.get(newThreadId());
    await expect(run(sandbox, 'echo old')).resolves.toMatchObject({ output: 'old\n' });

    fixture.engine.versions = { oldest: '1.44', newest: '1.52' };

    await expect(run(await fixture.provider.get(newThreadId()), 'echo new')).resolves.toMatchObject({
      output: 'new\n',
    });
  });

  it('says what is wrong when no version of the API is accepted', async () => {
    const other = await DockerFixture.open();
    other.engine.versions = { oldest: '1.60', newest: '1.50' }; // refuses everything

    await expect(other.provider.probe()).resolves.toMatchObject({
      usable: false,
      advice: expect.stringContaining('Engine API'),
    });
    await other.close();
  });

  it('says what to do when the engine does not run', async () => {
    const other = await DockerFixture.open({ docker: { socketPath: '/nowhere/docker.sock' } });

    await expect(other.provider.probe()).resolves.toMatchObject({
      usable: false,
      advice: expect.stringContaining('DOCKER_SOCKET'),
    });
    await other.close();
  });

  it('says what to do when the engine does not have the image', async () => {
    const other = await DockerFixture.open();
    other.engine.images.clear();

    await expect(other.provider.probe()).resolves.toMatchObject({
      usable: false,
      advice: expect.stringContaining('docker pull node:24-bookworm'),
    });
    await other.close();
  });
});
