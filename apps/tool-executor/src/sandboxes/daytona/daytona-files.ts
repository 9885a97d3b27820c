import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import type {
  FileContent,
  FileKind,
  FileListing,
  FileStatus,
  ListOptions,
  SandboxFiles,
  StreamOptions,
  WriteOptions,
} from '../provider/sandbox';
import { readPieces, requireSize } from '../provider/file-pieces';
import { SandboxError, type SandboxErrorCode } from '../provider/sandbox-error';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { relativeToWorkspace, workspacePath } from '../provider/workspace-path';
import { type DaytonaShell, type Variables, stateDirectory } from './daytona-shell';

/** Larger contents are uploaded; smaller ones travel with the script. */
const inlineBytes = 48 * 1024;
/** Of a file that is written in pieces, which travel with a script, too. */
const pieceBytes = 192 * 1024;

const codes: readonly SandboxErrorCode[] = [
  'invalid_path',
  'not_found',
  'already_exists',
  'not_a_file',
  'not_a_directory',
  'too_large',
];
const kinds: Readonly<Record<string, FileKind>> = { f: 'file', d: 'directory', l: 'link' };
const kindsByMode: Readonly<Record<number, FileKind>> = { 0o10: 'file', 0o4: 'directory', 0o12: 'link' };

/**
 * File operations by scripts: Daytona's own calls for files know neither ranges nor a mode, follow links silently, and leave
 * half a file where a request breaks off.
 */
export class DaytonaFiles implements SandboxFiles {
  constructor(
    private readonly shell: () => Promise<DaytonaShell>,
    private readonly settings: Pick<SandboxSettings, 'transferBytes' | 'listedEntries'>,
  ) {}

  async read(path: string, range?: { offset: number; length: number }): Promise<FileContent> {
    const most = this.settings.transferBytes;
    const length = range === undefined ? '' : Math.min(range.length, most);
    const located = { path: absolute(path), offset: range?.offset ?? 0, length, most };
    const { fields, rest } = await this.ask('read', located, path);
    const [size, ...identity] = fields;
    return { size: Number(size), identity: identity.join(' '), content: Buffer.from(rest, 'base64') };
  }

  async write(path: string, content: Uint8Array | string, { mode, permissions }: WriteOptions): Promise<void> {
    const bytes = Buffer.from(content);
    requireSize(path, bytes.length, this.settings.transferBytes);
    const request = randomUUID();
    const inline = bytes.length <= inlineBytes;
    const uploaded = inline ? '' : toDraft(request);
    const target = notTheRoot(path);
    if (!inline) await (await this.shell()).upload(bytes, uploaded);
    const given = { content: inline ? bytes.toString('base64') : '', uploaded, request };
    await this.ask('write', { path: target, mode, permissions: permissions?.toString(8) ?? '', ...given }, path);
  }

  /** Pieces gather in a draft, each at its offset, so that one whose request is repeated is not there twice. */
  async writeStream(
    path: string,
    source: AsyncIterable<Uint8Array>,
    { mode, permissions, maxBytes }: StreamOptions,
  ): Promise<number> {
    const target = notTheRoot(path);
    const request = randomUUID();
    const draft = toDraft(request);
    let size = 0;
    try {
      await this.ask('append', { draft, offset: 0, content: '' }, path);
      for await (const piece of readPieces(source, { path, maxBytes, pieceBytes })) {
        await this.ask('append', { draft, offset: size, content: Buffer.from(piece).toString('base64') }, path);
        size += piece.length;
      }
      const given = { content: '', uploaded: draft, request };
      await this.ask('write', { path: target, mode, permissions: permissions?.toString(8) ?? '', ...given }, path);
      return size;
    } catch (error) {
      await this.ask('discard', { draft }, path).catch(() => undefined); // the failure to report is the first one
      throw error;
    }
  }

  async delete(path: string, { recursive = false }: { recursive?: boolean } = {}): Promise<void> {
    await this.ask('delete', { path: notTheRoot(path), recursive: recursive ? 1 : 0, request: randomUUID() }, path);
  }

  async list(path: string, { depth = 1, exclude = [] }: ListOptions = {}): Promise<FileListing> {
    const most = this.settings.listedEntries;
    const names = exclude.flatMap((name, index) => [...(index > 0 ? ['-o'] : []), '-name', literalPattern(name)]);
    const pruned = names.length > 0 ? ['-type', 'd', '(', ...names, ')', '-prune'] : [];
    const located = { path: absolute(path), depth, most: most + 1, exclude: pruned };
    const { rest } = await this.ask('list', located, path);
    const found = Buffer.from(rest, 'base64').toString('utf8').split('\0').slice(0, -1);
    return { entries: found.slice(0, most).map(toEntry), truncated: found.length > most };
  }

  async stat(path: string): Promise<FileStatus | undefined> {
    const { status, fields } = await this.ask('stat', { path: absolute(path) }, path);
    if (status === 'none') return undefined;
    const [mode, size, permissions, modifiedAt] = fields;
    return {
      kind: kindsByMode[parseInt(mode ?? '', 16) >> 12] ?? 'other',
      size: Number(size),
      permissions: parseInt(permissions ?? '', 8),
      modifiedAt: new Date(Number(modifiedAt) * 1_000).toISOString(),
    };
  }

  private async ask(operation: string, variables: Variables, path: string): Promise<Answer> {
    const text = await (await this.shell()).run('files', { operation, ...variables });
    const end = text.indexOf('\n');
    const [status = '', ...fields] = text.slice(0, end < 0 ? undefined : end).split(' ');
    if (status === 'ok' || status === 'none') return { status, fields, rest: end < 0 ? '' : text.slice(end + 1) };
    throw refusal(status, path, fields[0]);
  }
}

interface Answer {
  readonly status: string;
  readonly fields: readonly string[];
  readonly rest: string;
}

function refusal(status: string, path: string, size: string | undefined): SandboxError {
  const code = codes.find((known) => known === status);
  if (code === 'too_large') return new SandboxError(code, `${path} has ${size} bytes, which is over the limit.`);
  if (code) return new SandboxError(code, `${path}: ${code.replaceAll('_', ' ')}.`);
  if (status === 'full')
    return new SandboxError('failed', 'The disk of the sandbox is full. Delete files, then try again.');
  return new SandboxError('failed', `${path} could not be accessed.`);
}

function toEntry(line: string): FileListing['entries'][number] {
  const [, letter = '', size = '0', path = ''] = /^(\S) (\d+) ([^]*)$/.exec(line) ?? [];
  return { path, kind: kinds[letter] ?? 'other', size: Number(size) };
}

const toDraft = (request: string): string => `${stateDirectory}/draft-${request}`;

/** As `find -name` reads it, matching this name only. */
const literalPattern = (name: string): string => name.replace(/[*?[\]\\]/g, '\\$&');

const absolute = (path: string): string => posix.join(workspacePath, relativeToWorkspace(path));

function notTheRoot(path: string): string {
  if (relativeToWorkspace(path) === '') throw new SandboxError('invalid_path', 'The path is the workspace itself.');
  return absolute(path);
}
