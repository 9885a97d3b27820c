import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { type RondoClient, type RunningRondo, call, command, scriptInput } from '@rondo/test-deployment';
import { ordinaryDeployment } from '../shared-deployment';

/** More than the buffers between an executor and a client take, so that one who does not read keeps a tunnel. */
const bytes = 12_000_000;
const many = 300;
/** After so long without reading, a reader is dropped and makes place for another one. */
const stallLimitMs = 30_000;

describe('attack: slow readers', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
  });

  /** A sandbox with a large file, and a site of it. */
  async function published(owner: RondoClient): Promise<{ sandbox: string; site: URL }> {
    const turns = [
      { calls: [command(`mkdir site && head -c ${bytes} /dev/zero > site/index.html`)] },
      { calls: [call('deploy', { directory_path: 'site' })] },
      { text: 'Published.' },
    ];
    const run = await owner.createRun({ tools: ['execute_command', 'deploy'], ...scriptInput('publish', turns) });
    expect((await owner.waitForRun(run.id)).status).toBe('completed');
    const { data } = await owner.json<{ data: { url: string }[] }>('GET', '/sites');
    const { id } = await owner.json<{ id: string }>('GET', `/threads/${run.thread_id}/sandbox`);
    return { sandbox: id, site: new URL(data[0]?.url ?? '') };
  }

  /** Requests that read nothing after the first bytes. Resolves to the status lines. */
  function openSlowly(path: string, headers: readonly string[]): Promise<string[]> {
    const { hostname, port } = new URL(client.url);
    return Promise.all(
      Array.from({ length: many }, async () => {
        const socket = connect(Number(port), hostname);
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.write(`${[`GET ${path} HTTP/1.1`, ...headers].join('\r\n')}\r\n\r\n`);
        const [first] = (await once(socket, 'data')) as [Buffer];
        socket.pause();
        return first.toString().slice(0, 12);
      }),
    );
  }

  it('of one account keep no tunnel from the files of another, nor from its run with an uploaded file', async () => {
    const [hostile, victim] = [(await client.newAccount('hostile')).client, (await client.newAccount('victim')).client];
    const [theirs, own] = [await published(hostile), await published(victim)];

    const file = `/v1/sandboxes/${theirs.sandbox}/files/content?path=site/index.html`;
    const begun = Date.now();
    const visits = await openSlowly('/', [`Host: ${theirs.site.host}`]);
    const reads = await openSlowly(file, ['Host: rondo', `Authorization: Bearer ${hostile.key}`]);
    const served = (lines: string[]) => lines.filter((line) => line.endsWith(' 200')).length;
    const times = 1 + Math.floor((Date.now() - begun) / stallLimitMs);
    expect(served(visits)).toBeGreaterThan(0);
    expect(served(visits)).toBeLessThanOrEqual(48 * times);
    expect(served(reads)).toBeGreaterThan(0);
    expect(served(reads)).toBeLessThanOrEqual(64 * times);

    for (let times = 0; times < 10; times += 1) {
      const { status } = await victim.request('GET', `/sandboxes/${own.sandbox}/files?path=site`);
      expect(status).toBe(200);
    }
    const form = new FormData();
    form.set('file', new Blob(['uploaded']), 'note.txt');
    const headers = { Authorization: `Bearer ${victim.key}` };
    const stored = await fetch(`${client.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id: uploaded } = (await stored.json()) as { id: string };
    const script = scriptInput('read it', [{ calls: [command('cat note.txt')] }, { text: 'Done.' }]);
    const run = await victim.createRun({ files: [uploaded], ...script });
    expect((await victim.waitForRun(run.id)).status).toBe('completed');
    expect((await victim.toolOutputs(run.id)).join('')).toContain('uploaded');
  });
});
