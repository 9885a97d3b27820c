import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { AccountId, ThreadId } from '@rondo/contract';
import { findFreeName } from '@rondo/domain';
import { type NatsLink, TunnelError, accessSandbox, writeThrough } from '@rondo/messaging';
import type { FileDeliveries, StoredFile } from '@rondo/persistence';

/** A workspace, and the executor that has it. */
export interface WorkspaceAddress {
  readonly executorId: string;
  readonly accountId: AccountId;
  readonly threadId: ThreadId;
}

export interface WorkspaceUploadParts {
  readonly nats: NatsLink;
  readonly content: FileDeliveries['content'];
}

/** Writes stored files into workspaces. A file is there with all its bytes, or not at all. */
export class WorkspaceUpload {
  constructor(private readonly parts: WorkspaceUploadParts) {}

  /**
   * Resolves to the path that the file has: another one if the path was taken. A file with the same bytes is taken for this
   * one, because an earlier attempt may have ended after its last byte. Rejects with TunnelError, or as the content does.
   */
  async write(to: WorkspaceAddress, path: string, file: StoredFile): Promise<string> {
    const taken = new Set<string>();
    for (;;) {
      const candidate = findFreeName(path, (name) => taken.has(name));
      if (await this.create(to, candidate, file)) return candidate;
      if (await this.isThere(to, candidate, file)) return candidate;
      taken.add(candidate);
    }
  }

  /** False if something has that path. */
  private async create(to: WorkspaceAddress, path: string, file: StoredFile): Promise<boolean> {
    const request = { ...toOwner(to), op: 'write', path, max_bytes: file.size, mode: 'create' } as const;
    try {
      const { tunnel } = await accessSandbox<'write'>(this.parts.nats, asWorker(to), request);
      await writeThrough(tunnel, Readable.from(this.parts.content(file), { objectMode: false }));
      return true;
    } catch (error) {
      if (error instanceof TunnelError && error.code === 'already_exists') return false;
      throw error;
    }
  }

  private async isThere(to: WorkspaceAddress, path: string, file: StoredFile): Promise<boolean> {
    const request = { ...toOwner(to), op: 'read', path } as const;
    try {
      const { tunnel, head } = await accessSandbox<'read'>(this.parts.nats, asWorker(to), request);
      tunnel.end();
      if (head.size !== file.size) {
        tunnel.destroy();
        return false;
      }
      const hash = createHash('sha256');
      for await (const part of tunnel as AsyncIterable<Buffer>) hash.update(part); // a tunnel carries bytes only
      return hash.digest('hex') === file.sha256;
    } catch (error) {
      if (error instanceof TunnelError && otherThings.includes(error.code)) return false;
      throw error;
    }
  }
}

/** What cannot be read is not this file: a directory, a link that leads nowhere or to itself, or a file without a right to read it. */
const otherThings = ['not_a_file', 'not_found', 'invalid_path', 'failed'];

const asWorker = ({ executorId }: WorkspaceAddress) => ({ executorId, isWorker: true });
const toOwner = ({ threadId, accountId }: WorkspaceAddress) => ({ thread_id: threadId, account_id: accountId });
