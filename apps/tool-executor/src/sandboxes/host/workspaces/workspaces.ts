import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chownTree } from './directory-tree';
import { SandboxError } from '../../provider/sandbox-error';
import type { ListedSandbox, SandboxLabels } from '../../provider/sandbox-provider';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import type { SandboxShape } from '../../provider/sandbox-shape';
import { isThreadId, requireThreadId } from '../../provider/thread-ids';
import { SandboxUsers } from './sandbox-users';
import { isPreparedId } from './prepared-ids';
import { WorkspaceArchives } from './workspace-archives';
import { imageUsage, WorkspaceImages } from './workspace-images';
import { type Usage, type Watched, measureAllocated, workspaceUsage } from './workspace-usage';
import { toMessage } from '@rondo/platform';
import { z } from 'zod';

/**
 * A thread's directory on the host's disk, and the user that owns it. Without root, the executor's user owns everything.
 * Thread and paths of a prepared one change once, when `adopt` makes it a thread's.
 */
export interface Workspace {
  threadId: string;
  directory: string;
  uid?: number;
  /** The disk to be mounted at the directory; missing where the files lie in the directory itself. */
  image?: string;
  /** What it sees read-only at `/skills`. Missing for trials. */
  skills?: string;
  /** What the sandbox is booted for. */
  labels?: SandboxLabels;
  /** How it is to be made. Missing: as the deployment's own. */
  shape?: SandboxShape;
}

type ListedWorkspace = ListedSandbox & { readonly state: 'asleep' | 'archived' };

type WorkspaceSettings = Pick<
  SandboxSettings,
  'root' | 'firstUid' | 'uidCount' | 'diskBytes' | 'files' | 'hardDisk' | 'unsafeHost'
>;

const isOfThread = (name: string) => isThreadId(name) && !isPreparedId(name);

/**
 * `<root>/<thread>/workspace`; where disk images can be mounted, its files lie in `workspace.img` beside it. A workspace stays
 * what it was created as. One that is not used may be packed (`WorkspaceArchives`); to open it brings it back. As root, each gets a uid that no other has, recorded beside it, so that it survives a restart.
 */
export class Workspaces {
  readonly root: string;
  readonly images: WorkspaceImages;
  private readonly archives: WorkspaceArchives;
  private readonly users: SandboxUsers;
  private readonly opening = new Map<string, Promise<Workspace>>();
  private readonly packing = new WorkspacePacking();

  constructor(
    settings: WorkspaceSettings,
    readonly separateUsers: boolean,
  ) {
    this.root = resolve(settings.root);
    this.images = new WorkspaceImages(settings);
    this.archives = new WorkspaceArchives(separateUsers);
    this.users = new SandboxUsers(this.root, settings);
  }

  /** Concurrent callers share one attempt: two would each claim a uid, and one could not enter the directory. */
  open(threadId: string, labels: SandboxLabels = {}): Promise<Workspace> {
    const opening =
      this.opening.get(threadId) ?? this.restoreAndMake(threadId, labels).finally(() => this.opening.delete(threadId));
    this.opening.set(threadId, opening);
    return opening;
  }

  /** Packs the files, unless one opens the workspace meanwhile. No command may run in it. False where nothing was packed. */
  async archive(threadId: string): Promise<boolean> {
    const pack = (home: string, signal: AbortSignal) => this.archives.pack(home, signal).then(() => true);
    return (await this.pack(threadId, pack)) ?? false;
  }

  /** The same into a file of its own, which is the caller's to delete. The workspace stays as it is. */
  copy(threadId: string): Promise<string | undefined> {
    return this.pack(threadId, (home, signal) => this.archives.copy(home, signal));
  }

  /** Makes such a file the workspace of a thread without files, as if it was archived. */
  async place(threadId: string, copy: string, labels: SandboxLabels): Promise<void> {
    const home = this.toHome(threadId);
    await mkdir(home, { recursive: true, mode: 0o711 });
    await writeLabels(home, labels);
    await this.archives.place(home, copy);
  }

  /** Gives up what is being packed. */
  close(): Promise<void> {
    return this.packing.interruptAll();
  }

  /** All workspaces on this disk, or one thread's, with the labels that they were created with. */
  async list(only?: string): Promise<ListedWorkspace[]> {
    const names = only === undefined ? await this.names() : [only];
    const listed = names.filter(isOfThread).map(async (threadId): Promise<ListedWorkspace[]> => {
      const home = this.toHome(threadId);
      const isPacked = this.archives.isPacked(home);
      if (!isPacked && !existsSync(this.toDirectory(threadId))) return [];
      return [
        {
          threadId,
          labels: { ...(await readLabels(home)), thread: threadId },
          state: isPacked ? 'archived' : 'asleep',
        },
      ];
    });
    return (await Promise.all(listed)).flat();
  }

  /** Those that belong to no thread, of this process or of one before. */
  async listPrepared(): Promise<string[]> {
    return (await this.names()).filter(isPreparedId);
  }

  /** Whether it can be opened as it is: to make one, or to bring one back, takes space. */
  async isUnpacked(threadId: string): Promise<boolean> {
    return isThreadId(threadId) && (await this.list(threadId)).some(({ state }) => state !== 'archived');
  }

  hasFiles(threadId: string): boolean {
    return existsSync(this.toHome(threadId));
  }

  /** Makes a prepared workspace that of a thread without files. One rename does it, so a crash leaves it whole on one side. */
  async adopt(prepared: Workspace, threadId: string, labels: SandboxLabels): Promise<void> {
    const { threadId: id, uid } = prepared;
    const from = this.toHome(id);
    await writeLabels(from, labels);
    if (uid !== undefined) await this.users.recordAsClaimed({ threadId: id, path: from }, uid);
    await rename(from, this.toHome(threadId));
    prepared.threadId = threadId;
    prepared.directory = this.toDirectory(threadId);
    prepared.skills = this.toSkills(threadId);
    if (prepared.image !== undefined) prepared.image = this.toImage(threadId);
  }

  /** Its files are seen only where the image is mounted. */
  isImage(threadId: string): boolean {
    return existsSync(this.toImage(threadId));
  }

  toDirectory(threadId: string): string {
    return join(this.toHome(threadId), 'workspace');
  }

  /** The folder of the thread's skills, beside its workspace, whether that is packed or not. Made with the workspace. */
  async openSkills(threadId: string, labels: SandboxLabels): Promise<string> {
    if (!existsSync(this.toHome(threadId))) await this.open(threadId, labels);
    await mkdir(this.toSkills(threadId), { recursive: true, mode: 0o755 });
    return this.toSkills(threadId);
  }

  private toSkills(threadId: string): string {
    return join(this.toHome(threadId), 'skills');
  }

  private async restoreAndMake(threadId: string, labels: SandboxLabels): Promise<Workspace> {
    await this.packing.interrupt(threadId);
    const home = this.toHome(threadId);
    if (existsSync(home)) await this.restore(home);
    const workspace = await this.make(threadId, labels);
    const skills = this.toSkills(threadId);
    await mkdir(skills, { recursive: true, mode: 0o755 });
    return { ...workspace, skills };
  }

  private async restore(home: string): Promise<void> {
    try {
      await this.archives.restore(home);
    } catch (error) {
      const reason = toMessage(error);
      throw new SandboxError('unavailable', `The files could not be brought back from their archive: ${reason}`);
    }
  }

  private async pack<T>(
    threadId: string,
    into: (home: string, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.opening.has(threadId) || this.packing.has(threadId)) return undefined;
    return this.packing.run(threadId, async (signal) => {
      const home = this.toHome(threadId);
      const hasFiles = existsSync(this.toDirectory(threadId));
      if (!hasFiles && !this.archives.isPacked(home)) return undefined;
      const image = this.toImage(threadId);
      if (hasFiles && existsSync(image)) await this.images.waitUntilDetached(image);
      return into(home, signal);
    });
  }

  private async make(threadId: string, labels: SandboxLabels): Promise<Workspace> {
    const home = this.toHome(threadId);
    const directory = this.toDirectory(threadId);
    await mkdir(this.root, { recursive: true, mode: 0o711 });
    await mkdir(home, { recursive: true, mode: 0o711 });
    if (!existsSync(directory)) await writeLabels(home, labels);
    const image = this.toImage(threadId);
    if (existsSync(image) || (this.images.enabled && !existsSync(directory))) return this.openImage(threadId, image);
    if (!existsSync(directory)) await mkdir(directory, { mode: 0o700 });
    if (!this.separateUsers) return { threadId, directory };
    const confirm = (uid: number) => chown(directory, uid, uid);
    return {
      threadId,
      directory,
      uid: await this.users.readOwner(
        { threadId, path: home },
        { confirm, change: (uid) => chownTree(directory, uid) },
      ),
    };
  }

  /** Creates the image before the directory that it is mounted at: a directory without an image is a plain workspace. */
  private async openImage(threadId: string, image: string): Promise<Workspace> {
    if (!this.separateUsers) {
      throw new SandboxError('unavailable', 'The workspace is a disk image, and only root can mount it.');
    }
    const directory = this.toDirectory(threadId);
    const ensure = async (owner: number) => {
      if (!existsSync(image)) await this.images.create(image, owner);
      await mkdir(directory, { recursive: true, mode: 0o700 });
    };
    const change = async (owner: number) => {
      const hadAnotherOwner = existsSync(image);
      await ensure(owner);
      if (hadAnotherOwner) await this.images.chown(image, { directory, uid: owner });
    };
    const home = { threadId, path: this.toHome(threadId) };
    const uid = await this.users.readOwner(home, { confirm: ensure, change });
    await this.images.prepare(image);
    return { threadId, directory, uid, image };
  }

  /** Of a workspace that no command runs in, packed or not: what it takes from this disk. */
  async diskBytes(threadId: string): Promise<number> {
    const [home, image] = [this.toHome(threadId), this.toImage(threadId)];
    if (this.archives.isPacked(home)) return this.archives.measureSize(home);
    if (existsSync(image)) return measureAllocated(image);
    return (await workspaceUsage(this.toDirectory(threadId), { pids: [], agent: undefined })).bytes;
  }

  /** Disk usage, as far as its limit is enforced by measuring. */
  usage(threadId: string, watched: Watched): Promise<Usage> {
    return this.isImage(threadId) ? imageUsage(watched.agent) : workspaceUsage(this.toDirectory(threadId), watched);
  }

  /** Releases the uid last: as long as a file is left, no other thread may get it. */
  async remove(threadId: string): Promise<void> {
    const home = this.toHome(threadId);
    await this.packing.interrupt(threadId);
    const uid = await this.users.find({ threadId, path: home });
    await this.archives.remove(home);
    await rm(home, { recursive: true, force: true });
    await this.users.release(threadId, uid);
  }

  private names(): Promise<string[]> {
    return readdir(this.root).catch(() => []); // Created with the first workspace.
  }

  private toImage(threadId: string): string {
    return join(this.toHome(threadId), 'workspace.img');
  }

  private toHome(threadId: string): string {
    requireThreadId(threadId);
    return join(this.root, threadId);
  }
}

const label = z.string().max(200).exactOptional();
const storedLabels = z.object({ install: label, account: label, thread: label, run: label, epoch: label });

const fileIn = (home: string): string => join(home, 'labels.json');

const writeLabels = (home: string, labels: SandboxLabels): Promise<void> =>
  writeFile(fileIn(home), JSON.stringify(labels), { mode: 0o600 });

/** A workspace of an older version has none, and a crash may have torn the file: then there are none. */
async function readLabels(home: string): Promise<SandboxLabels> {
  const text = await readFile(fileIn(home), 'utf8').catch(() => '{}');
  try {
    return storedLabels.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** A file with large holes is read back as a whole, and commands can make many. */
const packWithinMs = 15 * 60_000;
const interrupted = new Error('The workspace was opened meanwhile.');

interface Packing {
  readonly interruption: AbortController;
  /** Resolves also where it failed. */
  readonly ended: Promise<unknown>;
}

/** Which workspaces are being packed: each by one at a time, and given up at once where its files are needed. */
class WorkspacePacking {
  private readonly packing = new Map<string, Packing>();

  has(threadId: string): boolean {
    return this.packing.has(threadId);
  }

  /** Undefined where it was interrupted. */
  async run<T>(threadId: string, pack: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const interruption = new AbortController();
    const timeout = setTimeout(() => interruption.abort(new Error('It took too long.')), packWithinMs).unref();
    const ended = pack(interruption.signal).finally(() => {
      clearTimeout(timeout);
      this.packing.delete(threadId);
    });
    this.packing.set(threadId, { interruption, ended: ended.catch(() => undefined) });
    return ended.catch((error: unknown) => {
      if (interruption.signal.reason === interrupted) return undefined;
      throw error;
    });
  }

  async interrupt(threadId: string): Promise<void> {
    const packing = this.packing.get(threadId);
    packing?.interruption.abort(interrupted);
    await packing?.ended;
  }

  async interruptAll(): Promise<void> {
    await Promise.all([...this.packing.keys()].map((threadId) => this.interrupt(threadId)));
  }
}
