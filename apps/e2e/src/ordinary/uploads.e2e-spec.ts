import { createHash, randomBytes } from 'node:crypto';
import { type RondoClient, type RunView, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { ordinaryDeployment } from '../shared-deployment';

interface Block {
  readonly type: string;
  readonly text?: string;
}
interface MessageView {
  readonly type: string;
  readonly content: readonly Block[];
}

describe('uploaded files', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  async function upload(name: string, content: Buffer | string): Promise<string> {
    const form = new FormData();
    form.set('file', new Blob([content]), name);
    const headers = { Authorization: `Bearer ${client.key}` };
    const response = await fetch(`${client.url}/v1/files`, { method: 'POST', headers, body: form });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: string }).id;
  }

  const start = (line: string, body: object): Promise<RunView> =>
    client.createRun({ ...scriptInput(line, [{ calls: [command(line)] }, { text: 'Done.' }]), ...body });

  async function readOutput({ id }: RunView): Promise<string> {
    expect((await client.waitForRun(id)).status).toBe('completed');
    return (await client.toolOutputs(id)).join('');
  }

  async function readNotes({ thread_id: thread }: RunView): Promise<string[]> {
    const { data } = await client.json<{ data: MessageView[] }>('GET', `/threads/${thread}/messages`);
    return data.filter(({ type }) => type === 'user').map(({ content }) => content.at(-1)?.text ?? '');
  }

  it('are in the workspace before the first command, byte for byte, and without the slashes of their names', async () => {
    const bytes = randomBytes(12_000_000);
    const files = [await upload('data.bin', bytes), await upload('../../tmp/note.txt', 'Hello'), await upload('e', '')];

    const run = await start('sha256sum data.bin; cat note.txt; wc -c < e', { files });

    expect(await readOutput(run)).toContain(`${createHash('sha256').update(bytes).digest('hex')}  data.bin\nHello0`);
    expect(await readNotes(run)).toEqual([
      ['data.bin', 'note.txt', 'e'].map((name) => `[Uploaded File: /workspace/${name}]`).join('\n'),
    ]);
  });

  it('overwrite nothing that an agent has made; the model is told the other path', async () => {
    const first = await start('echo mine > plan.txt', {});
    await readOutput(first);

    const files = [await upload('plan.txt', 'uploaded')];
    const second = await start('cat plan.txt plan-2.txt', { thread_id: first.thread_id, files });

    expect(await readOutput(second)).toContain('mine\nuploaded');
    expect((await readNotes(second)).at(-1)).toBe(
      '[Uploaded File: /workspace/plan-2.txt, not /workspace/plan.txt: the workspace has another file of that name]',
    );
  });

  it('are stored beside links that lead nowhere, and beside files without a right to read them', async () => {
    const first = await start('ln -s nowhere a.txt; ln -s b.txt b.txt; echo mine > c.txt; chmod 000 c.txt', {});
    await readOutput(first);

    const files = [await upload('a.txt', 'A'), await upload('b.txt', 'B'), await upload('c.txt', 'C')];
    const second = await start('cat a-2.txt b-2.txt c-2.txt; ls | wc -l', { thread_id: first.thread_id, files });

    expect(await readOutput(second)).toContain('ABC6');
    expect((await readNotes(second)).at(-1)).toContain('[Uploaded File: /workspace/a-2.txt, not /workspace/a.txt: ');
  });

  it('that are gone before the run begins are named to the model', async () => {
    const first = await start('sleep 2', {});
    const file = await upload('gone.txt', 'x');
    const second = await start('ls', { thread_id: first.thread_id, files: [file], on_active_run: 'queue' });
    await client.request('DELETE', `/files/${file}`);

    expect(await readOutput(second)).not.toContain('gone.txt');
    expect((await readNotes(second)).at(-1)).toBe(
      '[Failed to store /workspace/gone.txt: it was deleted before the run got it]',
    );
  });

  it('arrive whole although their executor and then the worker are killed (kill -9) while they are written', async () => {
    const bytes = randomBytes(40_000_000);
    const files = [await upload('large.bin', bytes), await upload('small.txt', 'small')];
    await rondo.services.get('tool-executor').kill();
    const run = await start('sha256sum large.bin; cat small.txt; ls | wc -l', { files });
    await rondo.services.get('agent-worker').kill();

    const output = await readOutput(run);

    expect(output).toContain(createHash('sha256').update(bytes).digest('hex'));
    expect(output).toContain('small2');
    expect(await readNotes(run)).toHaveLength(1);
  });
});
