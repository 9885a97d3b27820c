import { existsSync } from 'node:fs';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { giveTree } from './give-tree';
import { removeTree } from './remove-tree';
import { SandboxError } from '../../sandbox-error';
import type { SandboxSettings } from '../../sandbox-settings';
import { SandboxUsers } from '../isolation/sandbox-users';
import { imageUsage, WorkspaceImages } from './workspace-images';
import { type Usage, type Watched, workspaceUsage } from './workspace-usage';

/** A thread's place on the host's disk, and the user it belongs to; without root everything belongs to us. */
export interface Workspace {
  threadId: string;
  directory: string;
  uid?: number;
  /** The disk to be mounted at the directory; missing where the files lie in the directory itself. */
  image?: string;
}

type WorkspaceSettings = Pick<
  SandboxSettings,
  'root' | 'firstUid' | 'uidCount' | 'diskBytes' | 'files' | 'hardDisk' | 'unsafeHost'
>;

/** What makes files a user's: of the one that they belong to already, or of a new one. */
interface Handover {
  confirm: (uid: number) => Promise<void>;
  give: (uid: number) => Promise<void>;
}

const threadIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * `<root>/<thread>/workspace`, whose files lie in `workspace.img` beside it where disks can be mounted. One that was made
 * either way stays so. As root, each gets a uid that no other has, kept beside it, so that it survives a restart.
 */
export class Workspaces {
  readonly root: string;
  readonly images: WorkspaceImages;
  private readonly users: SandboxUsers;
  private readonly opening = new Map<string, Promise<Workspace>>();

  constructor(
    settings: WorkspaceSettings,
    readonly separateUsers: boolean,
  ) {
    this.root = resolve(settings.root);
    this.images = new WorkspaceImages(settings);
    this.users = new SandboxUsers(this.root, settings);
  }

  /** Once for all who ask at the same time: two would each claim a uid, and one find the door shut. */
  open(threadId: string): Promise<Workspace> {
    const opening = this.opening.get(threadId) ?? this.make(threadId).finally(() => this.opening.delete(threadId));
    this.opening.set(threadId, opening);
    return opening;
  }

  directoryOf(threadId: string): string {
    return join(this.homeOf(threadId), 'workspace');
  }

  private async make(threadId: string): Promise<Workspace> {
    const home = this.homeOf(threadId);
    const directory = this.directoryOf(threadId);
    await mkdir(this.root, { recursive: true, mode: 0o711 });
    await mkdir(home, { recursive: true, mode: 0o711 });
    const image = this.imageOf(threadId);
    if (existsSync(image) || (this.images.areMade && !existsSync(directory))) return this.openImage(threadId, image);
    if (!existsSync(directory)) await mkdir(directory, { mode: 0o700 });
    if (!this.separateUsers) return { threadId, directory };
    const confirm = (uid: number) => chown(directory, uid, uid);
    return {
      threadId,
      directory,
      uid: await this.ownerOf(threadId, { confirm, give: (uid) => giveTree(directory, uid) }),
    };
  }

  /** The image is made before the directory that it is mounted at: a directory alone would be taken for the workspace. */
  private async openImage(threadId: string, image: string): Promise<Workspace> {
    if (!this.separateUsers) {
      throw new SandboxError('unavailable', 'The workspace is a disk, which only root can mount, in a sandbox.');
    }
    const directory = this.directoryOf(threadId);
    const ensure = async (owner: number) => {
      if (!existsSync(image)) await this.images.create(image, owner);
      await mkdir(directory, { recursive: true, mode: 0o700 });
    };
    const give = async (owner: number) => {
      const belongedToAnother = existsSync(image);
      await ensure(owner);
      if (belongedToAnother) await this.images.give(image, { directory, uid: owner });
    };
    const uid = await this.ownerOf(threadId, { confirm: ensure, give });
    await this.images.prepare(image);
    return { threadId, directory, uid, image };
  }

  /** What it takes of the disk, as far as that is limited by being watched. */
  usage(threadId: string, watched: Watched): Promise<Usage> {
    const isImage = existsSync(this.imageOf(threadId));
    return isImage ? imageUsage(watched.agent) : workspaceUsage(this.directoryOf(threadId), watched);
  }

  /** Its user last: as long as a file is left, nobody else may get that uid. */
  async remove(threadId: string): Promise<void> {
    const home = this.homeOf(threadId);
    const uid = await this.users.find({ threadId, path: home });
    await removeTree(this.directoryOf(threadId));
    await rm(home, { recursive: true, force: true });
    await this.users.release(threadId, uid);
  }

  private imageOf(threadId: string): string {
    return join(this.homeOf(threadId), 'workspace.img');
  }

  private homeOf(threadId: string): string {
    if (!threadIdPattern.test(threadId)) throw new SandboxError('invalid_request', 'This is not a thread id.');
    return join(this.root, threadId);
  }

  /** A new owner is recorded only once everything belongs to it: a crash in between means another attempt. */
  private async ownerOf(threadId: string, { confirm, give }: Handover): Promise<number> {
    const home = { threadId, path: this.homeOf(threadId) };
    const known = await this.users.find(home);
    if (known !== undefined) {
      await confirm(known);
      return known;
    }
    const uid = await this.users.claim(threadId);
    await give(uid);
    await this.users.record(home, uid);
    return uid;
  }
}
