import { existsSync } from 'node:fs';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { giveTree } from './give-tree';
import { removeTree } from './remove-tree';
import { SandboxError } from './sandbox-error';
import type { SandboxSettings } from './sandbox-settings';
import { SandboxUsers } from './sandbox-users';

/** A thread's place on the host's disk, and the user it belongs to; without root everything belongs to us. */
export interface Workspace {
  threadId: string;
  directory: string;
  uid?: number;
}

const threadIdPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** `<root>/<thread>/workspace`. As root, each gets a uid that no other has, kept beside it, so that it survives a restart. */
export class Workspaces {
  readonly root: string;
  private readonly users: SandboxUsers;
  private readonly opening = new Map<string, Promise<Workspace>>();

  constructor(
    settings: Pick<SandboxSettings, 'root' | 'firstUid' | 'uidCount'>,
    readonly separateUsers: boolean,
  ) {
    this.root = resolve(settings.root);
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
    if (!existsSync(directory)) await mkdir(directory, { mode: 0o700 });
    return this.separateUsers ? { threadId, directory, uid: await this.ownerOf(threadId) } : { threadId, directory };
  }

  /** Its user last: as long as a file is left, nobody else may get that uid. */
  async remove(threadId: string): Promise<void> {
    const home = this.homeOf(threadId);
    const uid = await this.users.find({ threadId, path: home });
    await removeTree(this.directoryOf(threadId));
    await rm(home, { recursive: true, force: true });
    await this.users.release(threadId, uid);
  }

  private homeOf(threadId: string): string {
    if (!threadIdPattern.test(threadId)) throw new SandboxError('invalid_request', 'This is not a thread id.');
    return join(this.root, threadId);
  }

  /** A new owner is recorded only once everything belongs to it: a crash in between means another attempt. */
  private async ownerOf(threadId: string): Promise<number> {
    const home = { threadId, path: this.homeOf(threadId) };
    const directory = this.directoryOf(threadId);
    const known = await this.users.find(home);
    if (known !== undefined) {
      await chown(directory, known, known);
      return known;
    }
    const uid = await this.users.claim(threadId);
    await giveTree(directory, uid);
    await this.users.record(home, uid);
    return uid;
  }
}
