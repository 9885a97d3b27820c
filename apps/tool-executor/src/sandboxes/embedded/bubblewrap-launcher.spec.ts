import { BubblewrapLauncher } from './bubblewrap-launcher';
import { noControlGroups } from './control-groups';
import { EgressGates } from '../egress/egress-gate';
import { createRuntimeDirectory, type RuntimeDirectory } from '../host/isolation/runtime-directory';
import { sandboxSettings } from '../provider/sandbox-settings';

describe('attack: sandbox processes and files', () => {
  const settings = sandboxSettings.parse({ root: '/nowhere' });
  const nowhere = { resolve: async () => [], resolveInternal: async () => [], isAllowed: () => false };
  const egress = new EgressGates({ ...settings.egress, ...nowhere });
  let runtime: RuntimeDirectory;

  beforeAll(async () => {
    runtime = await createRuntimeDirectory(undefined);
  });
  afterAll(() => runtime.remove());

  it.each([
    ['root', 0],
    ['no number', NaN],
    ['a user of the host', 1000],
    ['the last uid before the range', settings.firstUid - 1],
    ['the first uid after the range', settings.firstUid + settings.uidCount],
    ['a fraction', settings.firstUid + 0.5],
  ])('a sandbox that would run as %s', async (_, uid) => {
    const parts = {
      settings,
      runtime,
      egress,
      controlGroups: noControlGroups,
      loader: '/nowhere',
      bubblewrapPath: 'bwrap',
    };
    const launcher = new BubblewrapLauncher({ ...parts, disableUserNamespaces: false });

    const launch = launcher.launch({ threadId: 'thr_1', directory: '/nowhere', uid });

    await expect(launch).rejects.toThrow('may not run as user');
  });
});
