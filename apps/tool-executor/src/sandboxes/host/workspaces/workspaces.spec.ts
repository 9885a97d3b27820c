import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxSettings } from '../../provider/sandbox-settings';
import { Workspaces } from './workspaces';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'workspaces-spec-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('Workspaces', () => {
  it('assigns one uid to a thread, also when it is opened concurrently', async () => {
    const firstUid = process.getuid?.() || 1_900_000_000; // A process may always change ownership to itself.
    const workspaces = new Workspaces(sandboxSettings.parse({ root, firstUid, uidCount: 2 }), true);
    const opened = await Promise.all(['thr_1', 'thr_1', 'thr_1'].map((id) => workspaces.open(id).catch(String)));

    expect(new Set(opened.map((workspace) => JSON.stringify(workspace))).size).toBe(1);
    expect(await workspaces.open('thr_1')).toEqual(opened[0]);
  });
});

/** Only root can give sandboxes uids of their own. */
const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

asRoot('attack: sandbox processes and files', () => {
  const range = { firstUid: 1_900_000_000, uidCount: 1_000 };
  const open = () => new Workspaces(sandboxSettings.parse({ root, ...range }), true).open('thr_1');
  const record = () => join(root, 'thr_1', 'uid');
  const isOfRange = (uid: number) => uid >= range.firstUid && uid < range.firstUid + range.uidCount;

  it.each([
    ['an empty one', ''],
    ['one of spaces', ' \n'],
    ['the uid of root', '0'],
    ['a uid that is only half there', '19000'],
    ['a number below zero', '-1'],
    ['a fraction', '1900000000.5'],
    ['a number in another notation', '0x713FB300'],
    ['a uid beyond the range', '1900001000'],
    ['what is no number', 'root'],
  ])('a torn uid file: %s', async (_, torn) => {
    const { directory } = await open();
    await writeFile(join(directory, 'kept'), 'of the user before');
    await writeFile(record(), torn);

    const { uid = 0 } = await open();

    expect(isOfRange(uid)).toBe(true);
    expect(await readFile(record(), 'utf8')).toBe(String(uid));
    const owners = await Promise.all([directory, join(directory, 'kept')].map(async (path) => (await stat(path)).uid));
    expect(owners).toEqual([uid, uid]);
  });

  it('a uid file that names the user of another thread', async () => {
    const other = await new Workspaces(sandboxSettings.parse({ root, ...range }), true).open('thr_2');
    await open();
    await writeFile(record(), String(other.uid));

    expect((await open()).uid).not.toBe(other.uid);
  });

  it('a uid file that is torn when its thread is deleted', async () => {
    const workspaces = new Workspaces(sandboxSettings.parse({ root, ...range }), true);
    await workspaces.open('thr_1');
    await writeFile(record(), '');

    await workspaces.remove('thr_1');

    expect(await readdir(root)).toEqual(['.uids']);
    expect(await readdir(join(root, '.uids'))).toEqual([]);
  });

  it('links in a workspace that gets another user', async () => {
    const outside = join(root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'of the host');
    const { directory } = await open();
    await symlink(outside, join(directory, 'directory'));
    await symlink(join(outside, 'secret'), join(directory, 'file'));
    await writeFile(record(), '');
    await rm(join(root, '.uids'), { recursive: true });

    await open();

    const owners = await Promise.all([outside, join(outside, 'secret')].map(async (path) => (await stat(path)).uid));
    expect(owners).toEqual([0, 0]);
  });
});
