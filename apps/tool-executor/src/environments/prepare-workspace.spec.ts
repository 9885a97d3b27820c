import { accountId, environment, runId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { HeldSecrets } from '../secrets/testing/held-secrets';
import { type Sandbox, TermsInUse } from '../sandboxes';
import { SandboxFixture } from '../sandboxes/embedded/testing/sandbox-fixture';
import { engineUnderTest } from '../sandboxes/docker/testing/docker-fixture';
import { DaytonaFixture } from '../sandboxes/daytona/testing/daytona-fixture';
import { run } from '../sandboxes/testing/run-command';
import { prepareWorkspace } from './prepare-workspace';
import { GitServer } from './testing/git-server';

const account = accountId.parse('acc_1');
const ownRun = runId.parse('run_own');
const password = 'password-5e1c7a90b2';

describe('prepareWorkspace', () => {
  const secrets = new HeldSecrets();
  let fixture: SandboxFixture;
  let open: GitServer;
  let closed: GitServer;

  beforeAll(async () => {
    open = await GitServer.open({ 'README.md': 'Hello.\n', 'src/main.txt': 'first\n' });
    closed = await GitServer.open({ 'README.md': 'Private.\n' }, { password });
    const internalHosts = [open, closed].map(({ port }) => `127.0.0.1:${port}`);
    fixture = await SandboxFixture.open(
      { ...engineUnderTest, egress: { internalHosts } },
      { secretSource: secrets.source },
    );
    secrets.add(account, 'GIT_PASSWORD', {
      ...{ value: password, methods: ['GET', 'POST'], placement: { in: 'basic', username: 'robot' } },
      allowed_hosts: [`http://127.0.0.1:${closed.port}`],
    });
    secrets.add(account, 'TOKEN', {
      ...{ value: password, methods: ['GET', 'POST'], placement: { in: 'header', name: 'Authorization' } },
      allowed_hosts: [`http://127.0.0.1:${closed.port}`],
    });
    secrets.allow(ownRun, 'GIT_PASSWORD', 'TOKEN');
  });
  afterAll(async () => {
    await fixture.close();
    await open.close();
    await closed.close();
  });

  async function begin() {
    const thread = `thr_${newUlid()}`;
    const sandbox = await fixture.sandbox(thread);
    const egress = fixture.provider.toEgress(thread);
    const steps: string[] = [];
    const report = (step: string) => void steps.push(step);
    const prepare = (given: object, signal = new AbortController().signal, on: Sandbox = sandbox) =>
      prepareWorkspace(on, environment.parse(given), { account, run: ownRun, egress, signal, report });
    const sh = async (command: string) => (await run(sandbox, command, { run: ownRun })).output.trim();
    return { thread, sandbox, prepare, sh, steps };
  }

  it('clones a repository and writes files, and leaves what is there as it is', async () => {
    const { prepare, sh, steps } = await begin();
    const wanted = {
      repository: { url: open.url },
      files: [{ path: 'notes/todo.txt', content: 'one\n' }],
    };

    const first = await prepare(wanted);
    expect(first).toMatchObject({
      repository: { path: 'site', ref: null, commit: expect.stringMatching(/^[0-9a-f]{40}$/), is_new: true },
      files: [{ path: 'notes/todo.txt', is_new: true }],
    });
    expect(steps).toEqual(['repository', 'files']);
    expect(await sh('cat /workspace/site/src/main.txt /workspace/notes/todo.txt')).toBe('first\none');
    expect(await sh('git -C /workspace/site status --porcelain --branch')).toBe('## main...origin/main');

    await sh('echo mine > /workspace/notes/todo.txt; echo mine > /workspace/site/README.md');
    expect(await prepare(wanted)).toMatchObject({
      repository: { commit: first.repository?.commit, is_new: false },
      files: [{ is_new: false }],
    });
    expect(await sh('cat /workspace/site/README.md /workspace/notes/todo.txt')).toBe('mine\nmine');
  });

  it('checks out a tag, or a commit by its id, and says which it is', async () => {
    const commit = open.commit({ 'src/main.txt': 'second\n' });
    open.tag('v2');
    open.commit({ 'src/main.txt': 'third\n' });
    const { prepare, sh } = await begin();

    const ofTag = await prepare({ repository: { url: open.url, ref: 'v2', path: 'tagged' } });
    const ofCommit = await prepare({ repository: { url: open.url, ref: commit, path: 'deep/pinned' } });
    expect([ofTag.repository?.commit, ofCommit.repository?.commit]).toEqual([commit, commit]);
    expect(await sh('cat tagged/src/main.txt deep/pinned/src/main.txt')).toBe('second\nsecond');
  });

  it('clones with a secret that the sandbox cannot read, and refuses one that does not fit by its name', async () => {
    const { prepare, sh } = await begin();

    await prepare({ repository: { url: closed.url, secret: 'GIT_PASSWORD', path: 'private' } });
    expect(await sh('cat private/README.md; git -C private fetch && echo fetched')).toContain('fetched');
    expect(closed.authorizations.size).toBeGreaterThan(0);
    const everything = await sh('env; cat private/.git/config; grep -rs password- /workspace /tmp; true');
    expect(everything).toContain('GIT_PASSWORD=rondo_secret_');
    expect(everything).not.toContain(password);

    const refused = { url: closed.url, path: 'other' };
    await expect(prepare({ repository: { ...refused, secret: 'TOKEN' } })).rejects.toThrow(
      'TOKEN: its placement must be',
    );
    await expect(prepare({ repository: { ...refused, secret: 'MISSING' } })).rejects.toThrow('MISSING: there is none');
    await expect(prepare({ repository: { url: open.url, secret: 'GIT_PASSWORD' } })).rejects.toThrow('allowed_hosts');
    await expect(prepare({ repository: refused })).rejects.toThrow('git: ');
  });

  it('clones again what a kill has broken off, and shows no half of it', async () => {
    const { prepare, thread } = await begin();
    let reached = (): void => undefined;
    const held = new Promise<void>((resolve) => (reached = resolve));
    open.hold = () => {
      if (open.requests % 3 !== 0) return Promise.resolve();
      reached();
      return new Promise(() => undefined);
    };
    const broken = prepare({ repository: { url: open.url } }).catch((error: unknown) => error);
    await held;
    await fixture.provider.putToSleep(thread);
    expect(await broken).toMatchObject({ code: 'lost' });
    open.hold = () => Promise.resolve();

    const again = await prepare({ repository: { url: open.url } }, undefined, await fixture.sandbox(thread));
    expect(again.repository).toMatchObject({ is_new: true });
    expect(await run(await fixture.sandbox(thread), 'ls -A; cat site/README.md')).toMatchObject({
      output: expect.stringMatching(/^site\nHello\.$/m),
    });
  });

  it('refuses a folder that has something else, and says what to do', async () => {
    const { prepare, sh } = await begin();
    await sh('mkdir site');

    await expect(prepare({ repository: { url: open.url } })).rejects.toThrow(
      '/workspace/site has something else already',
    );
    await sh('rmdir site');
    await prepare({ repository: { url: open.url, ref: 'main' } });
    await expect(prepare({ repository: { url: open.url } })).rejects.toThrow('another ref');
  });

  it('works at Daytona, too, where a secret is refused by its name', async () => {
    const internalHosts = [`127.0.0.1:${open.port}`];
    const daytona = await DaytonaFixture.open({ settings: { egress: { internalHosts } } });
    const sandbox = await daytona.provider.get('thr_daytona');
    const egress = daytona.provider.toEgress('thr_daytona');
    const order = { account, run: ownRun, egress, signal: new AbortController().signal };
    const files = [{ path: 'notes/todo.txt', content: 'one\n' }];

    const placed = await prepareWorkspace(sandbox, { repository: { url: open.url }, files }, order);
    expect(placed).toMatchObject({ repository: { path: 'site', is_new: true }, files: [{ is_new: true }] });
    expect((await run(sandbox, 'cat site/README.md notes/todo.txt')).output).toMatch(/Hello\.\s+one/);
    await expect(
      prepareWorkspace(sandbox, { repository: { url: open.url, secret: 'GIT_PASSWORD', path: 'other' } }, order),
    ).rejects.toThrow('their provider is daytona');
    await daytona.close();
  });

  it('limits the network to the hosts of the run, and ends what ran under other ones', async () => {
    const { thread, sh } = await begin();
    const terms = new TermsInUse(fixture.provider);
    const reach = `curl -sS -m 5 -o /dev/null -w '%{http_code}' ${open.url}/HEAD`;
    expect(await sh(`sleep 1000 & ${reach}`)).toBe('200');

    const end = await terms.hold(thread, { egress: ['other.example'] });
    const narrowed = await fixture.sandbox(thread);
    expect((await run(narrowed, `pgrep sleep; ${reach}`)).output).toBe('403');
    await expect(terms.hold(thread, { egress: ['127.0.0.1'] })).rejects.toThrow('another run uses the sandbox');
    const second = await terms.hold(thread, { egress: ['other.example'] });
    second();
    end();

    (await terms.hold(thread, { egress: ['127.0.0.1'] }))();
    expect((await run(await fixture.sandbox(thread), reach)).output).toBe('200');
    (await terms.hold(thread))();
    expect((await run(await fixture.sandbox(thread), reach)).output).toBe('200');
  });
});
