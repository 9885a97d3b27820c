import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../../provider/sandbox-error';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import { isPreparedId } from './prepared-ids';

export type UidRange = Pick<SandboxSettings, 'firstUid' | 'uidCount'>;

/** A sandbox must never run as a user of the host, least of all as root. */
export const isInRange = (uid: number, { firstUid, uidCount }: UidRange): boolean =>
  Number.isInteger(uid) && uid > 0 && uid >= firstUid && uid < firstUid + uidCount;

/** The last check before privileges are dropped: whatever uid was read from disk, no sandbox runs as a user of the host. */
export function requireSandboxUser({ uid }: { readonly uid?: number }, range: UidRange): void {
  const isRoot = process.getuid?.() === 0;
  if (uid === undefined ? isRoot : !isInRange(uid, range)) {
    throw new SandboxError('unavailable', `A sandbox may not run as user ${uid ?? 0}.`);
  }
}

interface Home {
  threadId: string;
  /** The thread's directory, with its workspace in it. */
  path: string;
}

/** How the files get their owner: the one recorded for them, or a newly claimed one. */
interface Ownership {
  readonly confirm: (uid: number) => Promise<void>;
  readonly change: (uid: number) => Promise<void>;
}

/**
 * The users of sandboxes: one uid per thread. `<root>/.uids/<uid>` contains the thread that claimed it, and only one process
 * can create that file. `<home>/uid` contains the uid. A record that is torn, out of range or claimed by another thread is
 * treated as missing, so that neither file needs to be flushed to the disk: a power cut leaves nothing that misleads. Where the
 * home was prepared before it had a thread, `<home>/uid` also names the id under which it was claimed, which the claim keeps.
 */
export class SandboxUsers {
  private readonly claims: string;

  constructor(
    root: string,
    private readonly range: UidRange,
  ) {
    this.claims = join(root, '.uids');
  }

  /** Records a new owner only once it owns every file, so that a crash in between repeats the change. */
  async readOwner(home: Home, { confirm, change }: Ownership): Promise<number> {
    const known = await this.find(home);
    if (known !== undefined) {
      await confirm(known);
      return known;
    }
    const uid = await this.claim(home.threadId);
    await change(uid);
    await this.record(home, uid);
    return uid;
  }

  /** Undefined when the thread has no uid yet, or the record of it is invalid. */
  async find({ threadId, path }: Home): Promise<number | undefined> {
    const text = await readFile(recordIn(path), 'utf8').catch(() => '');
    const [, digits, claimedAs = threadId] = /^(\d{1,10})(?: (\S+))?$/.exec(text) ?? [];
    const uid = Number(digits ?? 0);
    if (!isInRange(uid, this.range) || !(claimedAs === threadId || isPreparedId(claimedAs))) return undefined;
    return (await this.claimant(uid)) === claimedAs ? uid : undefined;
  }

  /** A uid that no other thread has. When the thread's record was lost, it may be the previous one. */
  private async claim(threadId: string): Promise<number> {
    await mkdir(this.claims, { recursive: true, mode: 0o700 });
    for (const uid of this.candidates(threadId)) {
      try {
        await createFile(this.toClaim(uid), threadId);
        return uid;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // Node's own file system errors carry a code.
        if ((await this.claimant(uid)) === threadId) return uid;
      }
    }
    throw new SandboxError('unavailable', 'Every uid for sandboxes is in use.');
  }

  /** Makes the uid the thread's. */
  private record({ path }: Home, uid: number): Promise<void> {
    return replaceFile(recordIn(path), String(uid));
  }

  /** For a home that becomes another thread's, with its files: the claim stays as it is, so nothing can be torn. */
  recordAsClaimed({ threadId, path }: Home, uid: number): Promise<void> {
    return replaceFile(recordIn(path), `${uid} ${threadId}`);
  }

  /** `uid` is the result of `find`, which has checked the claim. Without it, the claim is searched in the order in which the thread would have claimed. */
  async release(threadId: string, uid: number | undefined): Promise<void> {
    if (uid !== undefined) {
      await rm(this.toClaim(uid), { force: true });
      return;
    }
    for (const candidate of this.candidates(threadId)) {
      const claimant = await this.claimant(candidate);
      if (claimant === threadId) await rm(this.toClaim(candidate), { force: true });
      if (claimant === undefined || claimant === threadId) return;
    }
  }

  /** The first candidate depends on the thread, so that claims rarely collide. */
  private *candidates(threadId: string): Generator<number> {
    const { firstUid, uidCount } = this.range;
    const start = createHash('sha256').update(threadId).digest().readUInt32BE(0);
    for (let step = 0; step < uidCount; step += 1) yield firstUid + ((start + step) % uidCount);
  }

  private claimant(uid: number): Promise<string | undefined> {
    return readFile(this.toClaim(uid), 'utf8').catch(() => undefined);
  }

  private toClaim(uid: number): string {
    return join(this.claims, String(uid));
  }
}

const recordIn = (home: string): string => join(home, 'uid');

/** Replaces a file atomically, except for a power cut: a reader finds the old content or the new. */
function replaceFile(path: string, content: string): Promise<void> {
  return throughDraft(path, content, (draft) => rename(draft, path));
}

/** Creates a file atomically. Rejects with `EEXIST` when it exists. */
function createFile(path: string, content: string): Promise<void> {
  return throughDraft(path, content, (draft) => link(draft, path));
}

async function throughDraft(path: string, content: string, place: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    await place(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
