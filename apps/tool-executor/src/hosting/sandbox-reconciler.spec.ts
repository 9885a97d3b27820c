import { threadId } from '@rondo/contract';
import { SandboxReconciler } from './sandbox-reconciler';
import { SiteStore } from '../sites/site-store';
import { DaytonaFixture } from '../sandboxes/daytona/testing/daytona-fixture';
import { SandboxFixture } from '../sandboxes/embedded/testing/sandbox-fixture';
import { sandboxRoot } from '../testing/executor-fixture';
import { PreviewUrls } from '../sites/preview-urls';
import { sharedDirectory } from './own-directory';
import { WorkspaceHosting } from './workspace-ownership';
import { run } from '../sandboxes/testing/run-command';

describe.each([
  ['embedded', () => SandboxFixture.open()],
  ['daytona', () => DaytonaFixture.open({ settings: { install: 'spec' } })],
])('SandboxReconciler with %s sandboxes', (_, open) => {
  let fixture: Awaited<ReturnType<typeof open>>;
  let sites: SiteStore;
  const [kept, deleted] = [threadId.parse('thr_kept'), threadId.parse('thr_deleted')];
  const log = { info: () => undefined, warn: () => undefined };
  const reconciler = (answer: readonly (typeof kept)[] | undefined) =>
    new SandboxReconciler({
      ...{ sandboxes: fixture.provider, sites, everyMs: 60_000, log },
      hosting: new WorkspaceHosting({
        ...{
          executorId: 'exe_1',
          directory: sharedDirectory,
          sandboxes: fixture.provider,
          sites,
          log,
          losses: () => 0,
        },
        ask: (threads) =>
          Promise.resolve(answer && { deleted: threads.filter((thread) => answer.includes(thread)), moved: [] }),
      }),
    });
  const listed = async () => (await fixture.provider.list()).map((sandbox) => sandbox.threadId).sort();

  beforeEach(async () => {
    fixture = await open();
    sites = new SiteStore({
      root: await sandboxRoot(),
      previews: new PreviewUrls('http://*.localhost'),
      maxBytes: 1_000,
    });
    for (const thread of [kept, deleted]) await run(await fixture.provider.get(thread), 'echo x > file');
    await fixture.restart(); // a new process, which knows only what it lists
  });
  afterEach(() => fixture.close());

  it('removes those of threads that do not exist, and keeps the files of the others', async () => {
    await reconciler([deleted]).reconcile();

    expect(await listed()).toEqual([kept]);
    await expect(run(await fixture.provider.get(kept), 'cat file')).resolves.toMatchObject({ output: 'x\n' });
  });

  it('removes nothing while no worker knows which threads exist', async () => {
    await reconciler(undefined).reconcile();

    expect(await listed()).toEqual([deleted, kept]);
  });
});
