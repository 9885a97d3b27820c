import type { UploadedFile } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** Uploads of an account, which runs get into their workspaces. */
export class Files {
  constructor(private readonly transport: Transport) {}

  /** A browser's `File` has a name of its own. It is not sent a second time by itself: that would store another file. */
  upload(content: Blob, { name, signal }: Options & { readonly name?: string } = {}): Promise<UploadedFile> {
    const form = new FormData();
    if (name === undefined) form.set('file', content);
    else form.set('file', content, name);
    return this.transport.json({ method: 'POST', path: '/v1/files', content: form, signal, repeatable: false });
  }

  /** Newest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<UploadedFile, void> {
    return itemsOf(this.transport, '/v1/files', query);
  }

  get(id: string, { signal }: Options = {}): Promise<UploadedFile> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** The response has the content as a stream, `arrayBuffer()` and `text()`. */
  content(id: string, { signal }: Options = {}): Promise<Response> {
    return this.transport.send({ path: `${pathOf(id)}/content`, signal });
  }

  /** What is in a workspace already stays there. */
  async delete(id: string, { signal }: Options = {}): Promise<void> {
    await this.transport.send({ method: 'DELETE', path: pathOf(id), signal });
  }
}

const pathOf = (id: string): string => `/v1/files/${encodeURIComponent(id)}`;
