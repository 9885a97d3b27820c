import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { removeTree } from './remove-tree';
import { SandboxError } from './sandbox-error';
import type { SandboxSettings } from './sandbox-settings';

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
  private readonly opening = new Map<string, Promise<Workspace>>();

  constructor(
    private readonly settings: Pick<SandboxSettings, 'root' | 'firstUid' | 'uidCount'>,
    readonly separateUsers: boolean,
  ) {
    this.root = resolve(settings.root);
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
    const uid = this.separateUsers ? await this.uidOf(threadId, home) : undefined;
    if (!existsSync(directory)) await mkdir(directory, { mode: 0o700 });
    if (uid === undefined) return { threadId, directory };

    await chown(directory, uid, uid);
    return { threadId, directory, uid };
  }

  /** Its user last: as long as a file is left, nobody else may get that uid. */
  async remove(threadId: string): Promise<void> {
    const home = this.homeOf(threadId);
    const uid = await readFile(join(home, 'uid'), 'utf8').catch(() => undefined);
    await removeTree(this.directoryOf(threadId));
    await rm(home, { recursive: true, force: true });
    if (uid !== undefined) await rm(join(this.claims, uid), { force: true });
  }

  private get claims(): string {
    return join(this.root, '.uids');
  }

  private homeOf(threadId: string): string {
    if (!threadIdPattern.test(threadId)) throw new SandboxError('invalid_request', 'This is not a thread id.');
    return join(this.root, threadId);
  }

  private async uidOf(threadId: string, home: string): Promise<number> {
    const record = join(home, 'uid');
    if (existsSync(record)) return Number(await readFile(record, 'utf8'));
    const uid = await this.claim(threadId);
    await writeFile(record, String(uid));
    return uid;
  }

  /** A file that only one can create is the claim; where to look first is spread, so that claims seldom collide. */
  private async claim(threadId: string): Promise<number> {
    await mkdir(this.claims, { recursive: true, mode: 0o700 });
    const { firstUid, uidCount } = this.settings;
    const start = createHash('sha256').update(threadId).digest().readUInt32BE(0);
    for (let step = 0; step < uidCount; step += 1) {
      const uid = firstUid + ((start + step) % uidCount);
      try {
        await writeFile(join(this.claims, String(uid)), threadId, { flag: 'wx' });
        return uid;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // Node's own file system errors carry a code.
      }
    }
    throw new SandboxError('unavailable', 'Every uid for sandboxes is taken.');
  }
}
