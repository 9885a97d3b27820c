import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { startAdjusted } from '../shared-deployment';

/** The header of a PNG of 2 by 3 pixels. */
const png = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3]),
  Buffer.from('the rest of the image'),
]);
const image = { type: 'base64', media_type: 'image/png', data: png.toString('base64') };

interface StoredMessage {
  readonly content: readonly { readonly source: { readonly sha256: string } }[];
}

/** Repeats the request until it has this status. The retention task runs several times a second here. */
async function answers(status: number, ask: () => Promise<{ status: number }>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while ((await ask()).status !== status) {
    if (Date.now() > deadline) throw new Error(`still not ${status}`);
    await delay(50);
  }
}

describe('a thread that is deleted', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await startAdjusted();
    client = rondo.client();
  });

  /** The directory of sandboxes: in the data directory, or elsewhere in /var/tmp if other users cannot reach that. */
  const sandboxesWith = (threadId: string): string | undefined =>
    [rondo.directory, ...readdirSync('/var/tmp').map((name) => join('/var/tmp', name))]
      .map((directory) => join(directory, 'sandboxes'))
      .find((sandboxes) => existsSync(join(sandboxes, threadId)));

  const gone = async (sandboxes: string, threadId: string): Promise<void> => {
    const changes = watch(sandboxes, { signal: AbortSignal.timeout(20_000) });
    for await (const _ of changes) if (!existsSync(join(sandboxes, threadId))) return;
  };

  const threadWithFile = async (about: string, project: object = {}): Promise<string> => {
    const turns = [{ calls: [command('echo text > file')] }, { text: 'Written.' }];
    const run = await client.createRun({ ...scriptInput(about, turns), ...project });
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'completed' });
    return run.thread_id;
  };

  it('leaves no workspace behind, and others keep theirs', async () => {
    const [kept, deleted] = [await threadWithFile('kept'), await threadWithFile('deleted')];
    const sandboxes = sandboxesWith(deleted);
    if (sandboxes === undefined) throw new Error('the command wrote nowhere');

    const isGone = gone(sandboxes, deleted);
    expect((await client.request('DELETE', `/threads/${deleted}`)).status).toBe(204);
    await isGone;

    expect(sandboxesWith(deleted)).toBeUndefined();
    expect(sandboxesWith(kept)).toBe(sandboxes);
  });

  it('leaves the workspace that it shared with a project, which takes it along', async () => {
    const { id: project } = await client.json<{ id: string }>('POST', '/projects', { sandbox: 'project' });
    const [kept, deleted] = [await threadWithFile('kept'), await threadWithFile('deleted', { project_id: project })];
    const { thread_id: workspace } = await client.json<{ thread_id: string }>('GET', `/threads/${deleted}/sandbox`);
    const sandboxes = sandboxesWith(workspace);
    if (sandboxes === undefined) throw new Error('the command wrote nowhere');
    expect(sandboxesWith(deleted)).toBeUndefined();

    const isGone = gone(sandboxes, workspace);
    await client.request('DELETE', `/threads/${deleted}`);
    await threadWithFile('more', { project_id: project });
    expect((await client.request('DELETE', `/projects/${project}`)).status).toBe(204);
    await isGone;

    expect(sandboxesWith(workspace)).toBeUndefined();
    expect(sandboxesWith(kept)).toBe(sandboxes);
  });

  it('leaves no workspace behind whose removal was never requested', async () => {
    const kept = await threadWithFile('known');
    const sandboxes = sandboxesWith(kept);
    if (sandboxes === undefined) throw new Error('the command wrote nowhere');
    const lost = `thr_${'0'.repeat(26)}`;

    const isGone = gone(sandboxes, lost);
    mkdirSync(join(sandboxes, lost, 'workspace'), { recursive: true });
    await isGone;

    expect(sandboxesWith(kept)).toBe(sandboxes);
  });

  it('is deleted with its images, and a removed account with everything', async () => {
    const { id: account, client: tenant } = await client.newAccount();
    const { id: thread } = await tenant.json<{ id: string }>('POST', '/threads', {});
    const message = await tenant.json<StoredMessage>('POST', `/threads/${thread}/messages`, {
      content: [{ type: 'image', source: image }],
    });
    const blob = `/blobs/${message.content[0]?.source.sha256}`;
    expect((await tenant.request('GET', blob)).status).toBe(200);

    expect((await tenant.request('DELETE', `/threads/${thread}`)).status).toBe(204);
    await answers(404, () => tenant.request('GET', blob));

    const removal = `/admin/accounts/${account}`;
    expect((await client.request('DELETE', removal)).status).toBe(202);
    expect((await tenant.request('GET', '/runs')).status).toBe(401);
    await answers(404, () => client.request('DELETE', removal));
  });
});
