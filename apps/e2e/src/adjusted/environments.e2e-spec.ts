import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Secret, agentDefinition } from '@rondo/contract';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { GitServer } from '../../../tool-executor/src/environments/testing/git-server';
import { expectWholeLog } from '../log-expectations';
import { startAdjusted, internalPort, newAccount } from '../shared-deployment';

const password = 'password-of-the-repository-71c3';
const skill = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`;

describe('the environment of a run', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let git: GitServer;

  beforeAll(async () => {
    git = await GitServer.open(
      {
        'README.md': 'The site.\n',
        '.claude/skills/release/SKILL.md': skill('release', 'Publishes the site.'),
        '.agents/skills/unshown-skill/SKILL.md': 'no front matter',
      },
      { password, port: await internalPort() },
    );
    rondo = await startAdjusted();
    client = await newAccount(rondo);
    await client.json<Secret>('POST', '/secrets', {
      ...{ name: 'GIT_PASSWORD', value: password, methods: ['GET', 'POST'] },
      allowed_hosts: [`http://127.0.0.1:${git.port}`],
      placement: { in: 'basic', username: 'robot' },
    });
  });
  afterAll(() => git.close());

  const environment = () => ({
    repository: { url: git.url, secret: 'GIT_PASSWORD' },
    files: [{ path: 'notes/style.md', content: 'Short sentences.\n' }],
    egress: ['127.0.0.1'],
  });
  const factTypes = async (run: { readonly id: string }) => (await client.facts(run.id)).map(({ type }) => type);

  it('is there before the model is asked, and stays for the next run of the thread', async () => {
    const look = 'cat site/README.md notes/style.md; env | grep GIT_';
    const reach = 'curl -sS -m 5 http://other.example/';
    const run = await client.createRun({
      ...scriptInput('an environment that stays', [{ calls: [command(look), command(reach)] }, { text: 'Done.' }]),
      environment: environment(),
    });

    expect(await client.waitForRun(run.id)).toMatchObject({
      status: 'completed',
      settings: { secrets: ['GIT_PASSWORD'] },
    });
    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expect(facts.slice(0, 6).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['workspace.preparing', 'workspace.prepared', 'run.started']),
    );
    expect(facts.find(({ type }) => type === 'workspace.prepared')?.data).toMatchObject({
      repository: { path: 'site', ref: null, is_new: true },
      files: [{ path: 'notes/style.md', is_new: true }],
      skills: [{ name: 'release', description: 'Publishes the site.', path: 'site/.claude/skills/release' }],
    });
    const prompts = JSON.stringify((await rondo.findModelRequests('an environment that stays')).at(-1));
    expect(prompts).toContain('- /workspace/site/.claude/skills/release/SKILL.md: Publishes the site.');
    expect(prompts).not.toContain('unshown-skill');
    const [seen, reached] = await client.toolOutputs(run.id);
    expect(seen).toContain('The site.\nShort sentences.');
    expect(seen).toContain('GIT_PASSWORD=rondo_secret_');
    expect(reached).toContain('not among the hosts that the environment of this run names');
    expect(JSON.stringify([facts, await rondo.modelRequests()])).not.toContain(password);

    const next = await client.createRun({
      ...scriptInput('another', [{ calls: [command(reach)] }, { text: 'Done.' }]),
      thread_id: run.thread_id,
      environment: { ...environment(), egress: ['127.0.0.1', 'other.example'] },
    });
    expect(await client.waitForRun(next.id)).toMatchObject({ status: 'completed' });
    expect((await client.facts(next.id)).find(({ type }) => type === 'workspace.prepared')?.data).toMatchObject({
      repository: { is_new: false },
      files: [{ is_new: false }],
    });
    expect(await client.toolOutputs(next.id)).not.toEqual([expect.stringContaining('not among the hosts')]);
  });

  it.each(['tool-executor', 'agent-worker'])(
    'is whole after a kill of the %s in the middle of a clone',
    async (killed) => {
      let reached = (): void => undefined;
      const held = new Promise<void>((resolve) => (reached = resolve));
      let requests = 0;
      git.hold = () => {
        requests += 1;
        if (requests !== 5) return Promise.resolve();
        reached();
        return new Promise(() => undefined);
      };
      const run = await client.createRun({
        ...scriptInput(`after ${killed}`, [
          { calls: [command('ls -A; git -C site status --short; cat site/README.md')] },
          { text: 'Done.' },
        ]),
        environment: environment(),
      });
      await held;
      expect(await factTypes(run)).toContain('workspace.preparing');
      await rondo.services.get(killed).kill();
      await rondo.services.get(killed).start();

      expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
      const types = await factTypes(run);
      expect(types.filter((type) => type.startsWith('workspace.'))).toEqual([
        'workspace.preparing',
        'workspace.prepared',
      ]);
      expect(await client.toolOutputs(run.id)).toEqual([expect.stringMatching(/notes\s+site\s+The site\./)]);
      expectWholeLog(await client.facts(run.id));
    },
  );

  it('is what the program of the documentation prints', async () => {
    const document = readFileSync(join(repoRoot, 'docs/environment-of-agents.md'), 'utf8');
    const read = (kind: string) => new RegExp(`\`\`\`${kind}\\n(.*?)\`\`\``, 's').exec(document)?.[1] ?? '';
    const reader = await newAccount(rondo);
    const folder = mkdtempSync(join(tmpdir(), 'rondo-environment-'));
    writeFileSync(join(folder, 'environment.mjs'), read('js'));

    const { stdout } = await promisify(execFile)(process.execPath, ['environment.mjs'], {
      cwd: folder,
      env: {
        ...{ PATH: process.env['PATH'], RONDO_URL: reader.url, RONDO_API_KEY: reader.key },
        ...{ REPOSITORY: git.url, GIT_USER: 'robot', GIT_PASSWORD: password },
      },
    });

    expect(stdout).toBe(read('text'));
    expect(agentDefinition.safeParse(JSON.parse(read('json')))).toMatchObject({ success: true });
    rmSync(folder, { recursive: true });
  });

  it('ends the run with a reason where it cannot be had, and is refused by its field where that is known', async () => {
    const failing = await client.createRun({
      ...scriptInput('none', [{ text: 'Done.' }]),
      environment: { repository: { url: `http://127.0.0.1:${git.port}/team/none.git`, secret: 'GIT_PASSWORD' } },
    });
    const { status, error } = await client.waitForRun(failing.id);
    expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'environment_failed' } });
    expect(JSON.stringify(error)).toContain('not found');

    const order = async (given: object) =>
      (await client.request('POST', '/runs', { input: 'Go.', environment: given })).text;
    expect(await order({ repository: { url: git.url, secret: 'NO_SUCH' } })).toContain('environment.repository.secret');
    expect(await order({ repository: { url: 'https://other.example/a.git', secret: 'GIT_PASSWORD' } })).toContain(
      'must name other.example',
    );
    expect(await order({ repository: { url: git.url, ref: '--upload-pack=x' } })).toContain(
      'environment.repository.ref',
    );
    expect(await order({ repository: { url: git.url }, egress: ['example.com'] })).toContain('must name 127.0.0.1');
    expect(await order({ packages: {} })).toContain('packages');
  });
});
