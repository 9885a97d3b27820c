import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Fact,
  type RondoClient,
  type RunView,
  RunningRondo,
  call,
  command,
  scriptInput,
} from '@rondo/test-deployment';
import { postgresPrograms } from '../../../deploy/local/servers/postgres-programs.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { expectWholeLog } from './log-expectations';

const [save, restore] = [...readFileSync(join(repoRoot, 'docs/backup.md'), 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(
  ([, commands]) => commands ?? '',
);

const ask = { calls: [call('ask', { text: 'Which colour?' })] };
const pace = { pace_ms: 20, chunk_chars: 5 };

describe('a backup that was made while runs were executed (docs/backup.md)', () => {
  let directory: string;
  let rondo: RunningRondo;
  let client: RondoClient;
  const ids: Record<'done' | 'asking' | 'writing' | 'working' | 'later', string> = {
    done: '',
    asking: '',
    writing: '',
    working: '',
    later: '',
  };
  let doneBefore: Fact[];
  const underLoad: string[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'backup-'));
    const programs = await postgresPrograms({ path: process.env['PATH'], packagesDirectory: join(repoRoot, '.data') });
    const execute = async (commands: string | undefined, url: string | undefined): Promise<void> => {
      const PATH = `${programs.directory}:${process.env['PATH']}`;
      const env = { ...programs.env, PATH, DATABASE_URL: `${url}?sslmode=disable&sslrootcert=/no/file` };
      await promisify(execFile)('bash', ['-euc', commands ?? ''], { cwd: directory, env });
    };

    const saved = await RunningRondo.start();
    await beginRuns(saved.client());
    const loading = load(saved.client());
    await execute(save, saved.infrastructure.env.DATABASE_URL);
    await loading;
    ids.later = (await saved.client().createRun(scriptInput('later', [{ text: 'Too late.' }]))).id;
    await saved.services.stop();
    await saved.infrastructure.stop();

    rondo = await RunningRondo.start({
      restored: {
        files: (into) => {
          const files = ['sandboxes', 'tool-executor-id'].map((name) => join(saved.directory, name));
          execFileSync('cp', ['--archive', '--sparse=always', ...files, into]); // workspaces are disk images with holes
        },
        database: (url) => execute(restore, url),
      },
    });
    rmSync(saved.directory, { recursive: true, force: true });
    client = rondo.client();
  });

  afterAll(async () => {
    await rondo.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  async function beginRuns(of: RondoClient): Promise<void> {
    const begin = async (about: keyof typeof ids, turns: Record<string, unknown>[]) => {
      ids[about] = (await of.createRun({ ...scriptInput(about, turns), interactive: true })).id;
    };
    await begin('done', [{ calls: [command('echo done')] }, { text: 'Done.' }]);
    await of.waitForRun(ids.done);
    doneBefore = await of.facts(ids.done);
    await begin('asking', [ask, { text: 'Thank you.' }]);
    await of.waitForRun(ids.asking);
    await begin('writing', [{ text: 'word '.repeat(1_000), ...pace }]);
    await begin('working', [{ calls: [command('echo 1 >> effects; sleep 60')] }, { text: 'Went on.' }]);
    await Promise.all([of.waitForEvent(ids.writing, 'message.delta'), of.waitForEvent(ids.working, 'tool.started')]);
  }

  async function load(of: RondoClient): Promise<void> {
    for (let count = 0; count < 12; count += 1) {
      underLoad.push(
        (await of.createRun(scriptInput(`load ${count}`, [{ calls: [command('echo x')] }, { text: 'x' }]))).id,
      );
    }
  }

  it('has the runs that had ended, fact by fact', async () => {
    expect(await client.facts(ids.done)).toEqual(doneBefore);
    expect(await client.toolOutputs(ids.done)).toEqual(['done\n']);
  });

  it('has a question that waits, and goes on with the answer', async () => {
    expect(await client.run(ids.asking)).toMatchObject({ status: 'waiting_input' });

    await client.json('POST', `/runs/${ids.asking}/input`, { content: 'Blue.' });

    expect(await client.waitForRun(ids.asking)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(ids.asking));
  });

  it('has the model asked again for the reply that it was writing', async () => {
    expect(await client.waitForRun(ids.writing)).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(ids.writing));
  });

  it('repeats no command, and reports its outcome as unknown (I5)', async () => {
    const settled = await client.waitForRun(ids.working);

    expect(settled).toMatchObject({ status: 'completed' });
    expectWholeLog(await client.facts(ids.working));
    const { data } = await client.json<{ data: { status: string; attempt: number }[] }>(
      'GET',
      `/runs/${ids.working}/tool-calls`,
    );
    expect(data).toMatchObject([{ status: 'unknown', attempt: 1 }]);
  });

  it('loses no run that it has, completes each, and has none of later', async () => {
    const found = await Promise.all(underLoad.map((id) => client.request('GET', `/runs/${id}`)));
    const kept = underLoad.filter((_, index) => found[index]?.status === 200);
    const settled = await Promise.all(kept.map((id) => client.waitForRun(id)));

    expect(found.map(({ status }) => status).filter((status) => status !== 200 && status !== 404)).toEqual([]);
    expect(settled.filter(({ status }: RunView) => status !== 'completed')).toEqual([]);
    for (const id of kept) expectWholeLog(await client.facts(id));
    expect(await client.request('GET', `/runs/${ids.later}`)).toMatchObject({ status: 404 });
  });

  it('bills what its runs have cost', async () => {
    const { data: runs } = await client.json<{ data: { usage: { input_tokens: number } }[] }>('GET', '/runs?limit=100');
    const { total } = await client.json<{ total: { input_tokens: number } }>('GET', '/usage');

    expect(total.input_tokens).toBe(runs.reduce((sum, { usage }) => sum + usage.input_tokens, 0));
  });
});
