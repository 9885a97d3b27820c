import { createHash } from 'node:crypto';
import { type SandboxFiles, SandboxError } from '../../sandboxes';
import { writeAside } from '../write-aside';

const folder = '.rondo/undo';
/** Of all files of a workspace together. */
const maximumEdits = 50;
const maximumBytes = 1024 * 1024;

/** An edit that can be undone: what the file was before it, and what the edit made of it. */
interface RememberedEdit {
  /** Undefined where the edit created the file. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

interface LastEdit {
  /** Undefined where the edit created the file. */
  readonly before: Buffer | undefined;
  /** False when something else has changed the file since. */
  isCurrent(content: Buffer): boolean;
  forget(): Promise<void>;
}

/**
 * The latest edits of the files of a workspace, kept in the workspace itself: they outlive a restart, of the sandbox and
 * of the executor, and count in its disk quota. The name of an entry says which file it is about, which call made it (the
 * ids sort by time), and what the file was afterwards.
 */
export class EditHistory {
  constructor(private readonly files: SandboxFiles) {}

  /** False when the edit cannot be kept. */
  async remember(path: string, call: string, { before, after }: RememberedEdit): Promise<boolean> {
    if ((before?.length ?? 0) > maximumBytes) return false;
    const kind = before ? 'changed' : 'created';
    const entry = [digest(path), call, digest(after), kind].join('-');
    try {
      await writeAside(this.files, `${folder}/${entry}`, before ?? '');
      await this.removeOldest();
      return true;
    } catch (error) {
      if (error instanceof SandboxError && error.code !== 'lost') return false;
      throw error;
    }
  }

  async last(path: string): Promise<LastEdit | undefined> {
    const entries = await this.entries();
    const entry = entries.filter((name) => name.startsWith(`${digest(path)}-`)).at(-1);
    if (entry === undefined) return undefined;
    const [, , after, kind] = entry.split('-');
    const file = `${folder}/${entry}`;
    return {
      before: kind === 'created' ? undefined : (await this.files.read(file)).content,
      isCurrent: (content) => digest(content) === after,
      forget: () => this.files.delete(file),
    };
  }

  private async removeOldest(): Promise<void> {
    const oldest = (await this.entries()).slice(0, -maximumEdits);
    await Promise.allSettled(oldest.map((entry) => this.files.delete(`${folder}/${entry}`)));
  }

  /** In the order of the calls. */
  private async entries(): Promise<string[]> {
    if ((await this.files.stat(folder)) === undefined) return [];
    const { entries } = await this.files.list(folder);
    const names = entries.map(({ path }) => path).filter((name) => entryName.test(name));
    return names.sort((one, other) => (toCall(one) < toCall(other) ? -1 : 1));
  }
}

const entryName = /^[0-9a-f]{16}-[^-]+-[0-9a-f]{16}-(created|changed)$/;
const toCall = (entry: string): string => entry.split('-')[1] ?? '';
const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 16);
