import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CompiledExecutor, firstOutput } from '../../../testing/compiled-executor';
import { sandboxSettings } from '../../provider/sandbox-settings';
import { canMountFiles } from '../testing/loop-devices';
import { removeTree } from './directory-tree';
import { WorkspaceArchives } from './workspace-archives';
import { Workspaces } from './workspaces';

const isRoot = process.getuid?.() === 0;
const never = new AbortController().signal;

let root: string;
let home: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'archives-spec-'));
  await chmod(root, 0o711);
  home = join(root, 'thr_1');
});
afterEach(() => removeTree(root));

const shell = async (command: string, cwd: string): Promise<string> =>
  (await promisify(execFile)('bash', ['-c', command], { cwd, maxBuffer: 10_000_000 })).stdout;
/** Names, kinds, permissions, owners, times, links and contents of a tree, directories' own times included. */
const inventory = (directory: string): Promise<string> =>
  shell(
    "find . -printf '%P|%y|%m|%U|%T@|%n|%l\\n' | sort; find . -type f | sort | xargs -d '\\n' sha256sum",
    directory,
  );
const fill = (directory: string, files: number): Promise<string> =>
  shell(
    `mkdir -p a/b && for i in $(seq ${files}); do head -c 20000 /dev/urandom > a/b/$i; done
     chmod 751 a/b/1 && ln -s b/1 a/link && ln -s /etc/shadow out && ln a/b/1 a/hard && mkfifo pipe && touch -- -rf
     truncate -s 5000000 holes && chmod 0500 a/b && mkdir locked && echo x > locked/in && chmod 0555 locked`,
    directory,
  );

describe('WorkspaceArchives', () => {
  const archives = new WorkspaceArchives(isRoot);
  let before: string;
  beforeEach(async () => {
    await mkdir(join(home, 'workspace'), { recursive: true });
    await fill(join(home, 'workspace'), 3);
    before = await inventory(join(home, 'workspace'));
  });
  const restored = async () => {
    await archives.restore(home);
    expect(await readdir(home)).toEqual(['workspace']);
    return inventory(join(home, 'workspace'));
  };

  it('bring back exactly what was packed', async () => {
    await archives.pack(home, never);
    expect(await readdir(home)).toEqual(['archive.tar.gz']);

    expect(await restored()).toBe(before);
  });

  it('leave the workspace as it is where packing is given up', async () => {
    await expect(archives.pack(home, AbortSignal.abort())).rejects.toThrow();

    expect(await readdir(home)).toEqual(['workspace']);
    expect(await inventory(join(home, 'workspace'))).toBe(before);
  });

  it('refuse a tree that would not come out of an archive again: its paths are too long for one', async () => {
    const deeper = `for _ in $(seq 30); do mkdir ${'d'.repeat(200)} && cd ${'d'.repeat(200)}; done; touch leaf`;
    await shell(deeper, join(home, 'workspace'));

    await expect(archives.pack(home, never)).rejects.toThrow(/File name too long/);

    expect(await readdir(home)).toEqual(['workspace']);
  });

  it('keep the archive, and nothing else, where it cannot be unpacked', async () => {
    await archives.pack(home, never);
    const file = join(home, 'archive.tar.gz');
    await cp(file, join(root, 'whole'));
    await writeFile(file, (await stat(file)).size > 100 ? 'torn' : '');

    await expect(archives.restore(home)).rejects.toThrow(/tar/);
    expect(await readdir(home)).toEqual(['archive.tar.gz']);

    await rename(join(root, 'whole'), file);
    expect(await restored()).toBe(before);
  });

  describe('after an executor was killed (I10)', () => {
    /** What it had done until then, made by hand. */
    const packed = async () => {
      await cp(join(home, 'workspace'), join(root, 'copy'), { recursive: true, verbatimSymlinks: true }).catch(
        () => null,
      );
      await archives.pack(home, never);
    };

    it.each<[string, () => Promise<unknown>]>([
      ['while it wrote the archive', () => writeFile(join(home, 'draft-1'), 'half an arch')],
      [
        'once the archive was whole and the files were still there',
        async () => {
          await shell('cp -a workspace ../kept', home);
          await archives.pack(home, never);
          await shell('mv ../kept workspace', home);
        },
      ],
      [
        'while it deleted the files',
        async () => {
          await packed();
          await mkdir(join(home, 'leaving-1/a'), { recursive: true });
        },
      ],
      [
        'while it unpacked the archive',
        async () => {
          await packed();
          await shell('mkdir -p restoring-1/workspace/a && echo half > restoring-1/workspace/a/hard', home);
        },
      ],
    ])('%s: everything is there, and nothing else', async (_, happened) => {
      await happened();

      expect(await restored()).toBe(before);
    });

    it('while it deleted the files: to pack again completes it', async () => {
      await packed();
      await mkdir(join(home, 'leaving-1/a'), { recursive: true });

      await archives.pack(home, never);

      expect(await readdir(home)).toEqual(['archive.tar.gz']);
    });
  });
});

describe('an executor that is killed at any moment while it archives and restores (I10)', () => {
  const kinds = canMountFiles() ? ['files', 'a disk image'] : ['files'];

  it.each(kinds)(
    'leaves one whole copy of %s',
    async (kind) => {
      const settings = {
        root,
        diskBytes: 48 * 1024 * 1024,
        files: 5_000,
        hardDisk: kind === 'files' ? 'off' : 'required',
      };
      const readWorkspaces = async () => {
        const workspaces = new Workspaces(sandboxSettings.parse(settings), isRoot);
        await workspaces.images.probe(root);
        return workspaces;
      };
      const { directory, image } = await (await readWorkspaces()).open('thr_1');
      const content = () => (image === undefined ? inventory(directory) : shell(`sha256sum < '${image}'`, root));
      if (image === undefined) await fill(directory, 150);
      else await shell(`dd if=/dev/urandom of='${image}' bs=1M count=8 seek=20 conv=notrunc status=none`, root);
      const before = await content();
      const compiled = await CompiledExecutor.build();

      for (let round = 0; round < 8; round += 1) {
        const child = compiled.start(`
        const { Workspaces } = require(built + '/sandboxes/host/workspaces/workspaces');
        const { sandboxSettings } = require(built + '/sandboxes/provider/sandbox-settings');
        const workspaces = new Workspaces(sandboxSettings.parse(${JSON.stringify(settings)}), ${isRoot});
        (async () => {
          console.log('begins');
          for (;;) {
            await workspaces.archive('thr_1');
            await workspaces.open('thr_1');
          }
        })();`);
        await firstOutput(child);
        await delay(20 + round * 50); // each round dies somewhere else
        child.kill('SIGKILL');
        await once(child, 'exit');

        await (await readWorkspaces()).open('thr_1');
        expect(await content()).toBe(before);
      }
      await (await readWorkspaces()).remove('thr_1');
      expect((await readdir(root)).filter((name) => name.startsWith('thr_'))).toEqual([]);
      await compiled.remove();
      await rm(root, { recursive: true, force: true });
    },
    300_000,
  );
});
