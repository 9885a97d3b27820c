import childProcess from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BubblewrapLauncher } from './bubblewrap-launcher';
import { noControlGroups } from './control-groups';
import { EgressGates } from '../egress/egress-gate';
import { createRuntimeDirectory, type RuntimeDirectory } from '../host/isolation/runtime-directory';
import { sandboxSettings } from '../provider/sandbox-settings';

const isRoot = process.getuid?.() === 0;

const settings = sandboxSettings.parse({ root: '/nowhere' });
const nowhere = { resolve: async () => [], resolveInternal: async () => [], isAllowed: () => false };
const egress = new EgressGates({ ...settings.egress, ...nowhere });
let runtime: RuntimeDirectory;

beforeAll(async () => {
  runtime = await createRuntimeDirectory(undefined);
});
afterAll(() => runtime.remove());

const createLauncher = (controlGroups = noControlGroups) =>
  new BubblewrapLauncher({
    ...{ settings, runtime, egress, controlGroups },
    ...{ loader: '/nowhere', bubblewrapPath: 'bwrap', disableUserNamespaces: false },
  });

describe('attack: sandbox processes and files', () => {
  it.each([
    ['root', 0],
    ['no number', NaN],
    ['a user of the host', 1000],
    ['the last uid before the range', settings.firstUid - 1],
    ['the first uid after the range', settings.firstUid + settings.uidCount],
    ['a fraction', settings.firstUid + 0.5],
  ])('a sandbox that would run as %s', async (_, uid) => {
    const launch = createLauncher().launch({ threadId: 'thr_1', directory: '/nowhere', uid });

    await expect(launch).rejects.toThrow('may not run as user');
  });
});

describe('BubblewrapLauncher', () => {
  it('leaves no socket and no control group of a sandbox that cannot be launched', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'launcher-spec-'));
    const before = await readdir(runtime.path);
    const groups = new Set<object>();
    const create = () => {
      const group = { ...noControlGroups.create(settings), remove: () => Promise.resolve(void groups.delete(group)) };
      groups.add(group);
      return group;
    };
    const missing = { threadId: 'thr_1', directory: join(closed, 'gone'), uid: settings.firstUid };

    await expect(createLauncher({ ...noControlGroups, create }).launch(missing)).rejects.toThrow(/ENOENT|EPERM/);

    expect(await readdir(runtime.path)).toEqual(before);
    expect(groups.size).toBe(0);
    await rm(closed, { recursive: true });
  });

  it('rejects where this process has no descriptors left, which Node reports after the call', async () => {
    const child = new EventEmitter();
    const spawn = jest.spyOn(childProcess, 'spawn').mockReturnValue(child as childProcess.ChildProcess);
    const workspace = { threadId: 'thr_1', directory: '/nowhere', ...(isRoot && { uid: settings.firstUid }) };

    await expect(createLauncher().launch(workspace)).rejects.toThrow(/undefined/);
    expect(child.emit('error', new Error('spawn EMFILE'))).toBe(true);
    spawn.mockRestore();
  });
});
