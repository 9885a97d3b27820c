import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Run } from '@rondo/contract';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { repoRoot } from '../../../../deploy/local/repo-root.mjs';
import { expectWholeLog } from '../log-expectations';
import { ordinaryDeployment } from '../shared-deployment';

const execute = promisify(execFile);

describe('forks in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  const fork = (id: string, body: object) => client.json<Run>('POST', `/runs/${id}/fork`, body);
  const environment = () => ({ PATH: process.env['PATH'], RONDO_URL: client.url, RONDO_API_KEY: client.key });

  it('goes on from the answers of the ledger, runs no tool again, and survives kill -9 of its worker (I2, I5)', async () => {
    const { id } = await client.createRun(
      scriptInput('forked', [
        { calls: [command('echo once >> effects; cat effects')] },
        { calls: [command('cat effects 2>/dev/null; echo here')] },
        { text: 'All done.' },
      ]),
    );
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    const ends = (await client.facts(id)).filter(({ type }) => type === 'iteration.completed');

    const fork1 = await fork(id, { at_seq: ends[0]?.seq });
    await rondo.services.get('agent-worker').kill();

    expect(await client.waitForRun(fork1.id)).toMatchObject({
      status: 'completed',
      forked_from: { run_id: id, seq: ends[0]?.seq },
    });
    const facts = await client.facts(fork1.id);
    expectWholeLog(facts);
    const outputs = await client.toolOutputs(fork1.id);
    expect(outputs).toEqual(['once\n', 'here\n']); // the second command found a new workspace
    expect(fork1.thread_id).not.toBe((await client.run(id)).thread_id);
  });

  it.each([
    [{ at_seq: 0 }, 422, 'at_seq'],
    [{ at_seq: 100_000 }, 422, 'at_seq'],
    [{ at_seq: 2, model: 'unknown/model' }, 422, 'model'],
    [{ at_seq: 1 }, 409, 'fork_needs_input'],
  ])('is refused for %j, and says why', async (body, status, words) => {
    const { id } = await client.createRun({ model: 'demo/plain', input: 'Go.' });
    await client.waitForRun(id);

    const refused = await client.request('POST', `/runs/${id}/fork`, body);

    expect(refused.status).toBe(status);
    expect(refused.text).toContain(words);
  });

  it('is made by the command line', async () => {
    const { id } = await client.createRun({ model: 'demo/plain', input: 'Go.' });
    await client.waitForRun(id);
    const cli = join(repoRoot, 'apps/cli/bin/rondo.mjs');

    const { stdout } = await execute(process.execPath, [cli, 'fork', id, 'And now?'], { env: environment() });

    expect(stdout).toContain('You said: And now?');
  });

  it('the program of the documentation does what its comments say', async () => {
    const document = readFileSync(join(repoRoot, 'docs/forks.md'), 'utf8');
    const [, program = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'rondo-forks-'));
    writeFileSync(join(folder, 'forks.mjs'), program);

    const { stdout } = await execute(process.execPath, ['forks.mjs'], { cwd: folder, env: environment() });

    const [, printed = ''] = /```text\n(.*?)```/s.exec(document) ?? [];
    expect(stdout).toBe(printed);
    rmSync(folder, { recursive: true });
  });
});
