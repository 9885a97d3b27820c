import { existsSync, readdirSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { type RondoClient, RunningRondo, command, scripted } from '@rondo/installation';

describe('a thread that is deleted', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
      settings: { 'agent-worker': { RETENTION_EVERY_MS: '200' } },
    });
    client = rondo.client();
  });

  afterAll(() => rondo.stop());

  /** Beside the data, or, where root must not let others pass, in a place of its own. */
  const sandboxesWith = (threadId: string): string | undefined =>
    [rondo.directory, ...readdirSync('/var/tmp').map((name) => join('/var/tmp', name))]
      .map((directory) => join(directory, 'sandboxes'))
      .find((sandboxes) => existsSync(join(sandboxes, threadId)));

  const gone = async (sandboxes: string, threadId: string): Promise<void> => {
    const changes = watch(sandboxes, { signal: AbortSignal.timeout(20_000) });
    for await (const _ of changes) if (!existsSync(join(sandboxes, threadId))) return;
  };

  const threadWithFile = async (about: string): Promise<string> => {
    const turns = [{ calls: [command('echo text > file')] }, { text: 'Written.' }];
    const run = await client.createRun(scripted(about, turns));
    expect(await client.settled(run.id)).toMatchObject({ status: 'completed' });
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
});
