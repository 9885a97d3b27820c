import type { BrowserAction, BrowserScreen, FileList, Sandbox, SandboxStatus, WrittenFile } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** Sandboxes and their files. Each thread has one at most. */
export class Sandboxes {
  constructor(private readonly transport: Transport) {}

  /** Newest first, with their states and what they cost. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<Sandbox, void> {
    return itemsOf(this.transport, '/v1/sandboxes', query);
  }

  get(id: string, { signal }: Options = {}): Promise<SandboxStatus> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** The sandbox of a thread as it is; rejects with `sandbox_not_found` if there is none. */
  find(threadId: string, { signal }: Options = {}): Promise<SandboxStatus> {
    return this.transport.json({ path: `/v1/threads/${encodeURIComponent(threadId)}/sandbox`, signal });
  }

  /** The sandbox of a thread, awake; it is created if there is none. */
  ofThread(threadId: string, { signal }: Options = {}): Promise<SandboxStatus> {
    const path = `/v1/threads/${encodeURIComponent(threadId)}/sandbox`;
    return this.transport.json({ method: 'POST', path, signal });
  }

  start(id: string, { signal }: Options = {}): Promise<SandboxStatus> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/start`, signal });
  }

  /** Kills its processes; the files stay. */
  stop(id: string, { signal }: Options = {}): Promise<SandboxStatus> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/stop`, signal });
  }

  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** What its browser shows now, with a JPEG in Base64; rejects with `browser_not_running` if there is none. */
  browser(id: string, { signal }: Options = {}): Promise<BrowserScreen> {
    return this.transport.json({ path: `${pathOf(id)}/browser`, signal });
  }

  /** Clicks, types or goes somewhere; answers with what is shown then. Not sent a second time. */
  operateBrowser(id: string, action: BrowserAction, { signal }: Options = {}): Promise<BrowserScreen> {
    const path = `${pathOf(id)}/browser/actions`;
    return this.transport.json({ method: 'POST', path, json: { action }, signal, repeatable: false });
  }

  files(id: string, query: { readonly path?: string; readonly depth?: number } = {}): Promise<FileList> {
    return this.transport.json({ path: `${pathOf(id)}/files`, query });
  }

  /** The response has the content as a stream, `arrayBuffer()` and `text()`. */
  readFile(id: string, path: string, { signal }: Options = {}): Promise<Response> {
    return this.transport.send({ path: `${pathOf(id)}/files/content`, query: { path }, signal });
  }

  /** Replaces the file once all of its content has arrived. Content that is a stream is not sent a second time. */
  writeFile(id: string, file: NewFile, { signal }: Options = {}): Promise<WrittenFile> {
    const { path, content } = file;
    return this.transport.json({
      method: 'PUT',
      path: `${pathOf(id)}/files/content`,
      query: { path },
      content,
      headers: { 'Content-Type': 'application/octet-stream' },
      signal,
      repeatable: !(content instanceof ReadableStream),
    });
  }

  async deleteFile(id: string, query: { readonly path: string; readonly recursive?: boolean }): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: `${pathOf(id)}/files`, query });
  }
}

export interface NewFile {
  /** In the workspace: relative to it, or absolute. */
  readonly path: string;
  readonly content: NonNullable<RequestInit['body']>;
}

const pathOf = (id: string): string => `/v1/sandboxes/${encodeURIComponent(id)}`;
