import { randomUUID } from 'node:crypto';
import type { AgentAnswer, AgentCall } from './agent-messages';
import type {
  FileContent,
  FileListing,
  FileStatus,
  ListOptions,
  SandboxFiles,
  StreamOptions,
  WriteOptions,
} from '../../provider/sandbox';
import { readPieces, requireSize } from '../../provider/file-pieces';
import { SandboxError } from '../../provider/sandbox-error';
import type { SandboxSettings } from '../../provider/sandbox-settings';
import { readableFromWorkspace, relativeToWorkspace } from '../../provider/workspace-path';

/** Of a file that is written in pieces. */
const pieceBytes = 256 * 1024;

export type FileCall = Extract<AgentCall, `file.${string}`>;
export type AskAgent = <C extends FileCall>(call: C, parameters: object) => Promise<AgentAnswer<C>>;

/** Whether a call may change how much of the disk is used. One that is missing here does not compile. */
export const changesDisk: Readonly<Record<FileCall, boolean>> = {
  'file.read': false,
  'file.list': false,
  'file.stat': false,
  'file.write': true,
  'file.append': true,
  'file.finish': true,
  'file.discard': true,
  'file.delete': true,
};

/** File operations, all done by the agent inside the sandbox; out here nothing ever opens a path of a workspace. */
export class AgentFiles implements SandboxFiles {
  constructor(
    private readonly ask: AskAgent,
    private readonly settings: Pick<SandboxSettings, 'transferBytes' | 'listedEntries'>,
    /** Rejects where nothing may be written. */
    private readonly requireCapacity: () => Promise<void>,
  ) {}

  async read(path: string, range?: { offset: number; length: number }): Promise<FileContent> {
    const maxBytes = this.settings.transferBytes;
    const answer = await this.ask('file.read', { path: readableFromWorkspace(path), maxBytes, ...range });
    return { ...answer, content: Buffer.from(answer.content, 'base64') };
  }

  async write(path: string, content: Uint8Array | string, { mode, permissions }: WriteOptions): Promise<void> {
    await this.requireCapacity();
    const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    requireSize(path, bytes.length, this.settings.transferBytes);
    const parameters = { path: notTheRoot(path), content: bytes.toString('base64'), mode, permissions };
    await this.ask('file.write', parameters);
  }

  async writeStream(
    path: string,
    source: AsyncIterable<Uint8Array>,
    { mode, permissions, maxBytes }: StreamOptions,
  ): Promise<number> {
    const file = { path: notTheRoot(path), mode, draft: randomUUID() };
    let size = 0;
    try {
      await this.append({ ...file, offset: 0 }, new Uint8Array(0));
      for await (const piece of readPieces(source, { path, maxBytes, pieceBytes })) {
        await this.append({ ...file, offset: size }, piece);
        size += piece.length;
      }
      await this.ask('file.finish', { ...file, permissions });
      return size;
    } catch (error) {
      await this.ask('file.discard', file).catch(() => undefined); // a sandbox deletes such drafts when it starts, too
      throw error;
    }
  }

  async delete(path: string, { recursive = false }: { recursive?: boolean } = {}): Promise<void> {
    await this.ask('file.delete', { path: notTheRoot(path), recursive });
  }

  async list(path: string, { depth = 1, exclude = [] }: ListOptions = {}): Promise<FileListing> {
    const { listedEntries: maxEntries } = this.settings;
    return this.ask('file.list', { path: readableFromWorkspace(path), depth, exclude, maxEntries });
  }

  async stat(path: string): Promise<FileStatus | undefined> {
    const answer = await this.ask('file.stat', { path: readableFromWorkspace(path) });
    if (!answer.found) return undefined;
    const { kind, size, permissions, modifiedAt } = answer;
    return { kind, size, permissions, modifiedAt };
  }

  private async append(file: object, part: Uint8Array): Promise<void> {
    await this.requireCapacity();
    await this.ask('file.append', { ...file, content: Buffer.from(part).toString('base64') });
  }
}

function notTheRoot(path: string): string {
  const relative = relativeToWorkspace(path);
  if (relative === '') throw new SandboxError('invalid_path', 'The path is the workspace itself.');
  return relative;
}
