import { Readable, addAbortSignal } from 'node:stream';
import { Controller, StreamableFile, UseGuards } from '@nestjs/common';
import { fileId } from '@rondo/contract';
import { anthropic as routes } from '@rondo/contract/api';
import { Files, type StoredFile } from '@rondo/persistence';
import { FileUploads } from '../../files/file-uploads';
import { clientSignal } from '../../http/client-signal';
import { Route, type RouteInput } from '../../http/route';
import { AnthropicVersionGuard } from './anthropic-version.guard';
import { refuse } from './anthropic-errors';

/** Uploaded files, as clients of Claude Managed Agents ask for them. */
@Controller()
@UseGuards(AnthropicVersionGuard)
export class AnthropicFilesController {
  constructor(
    private readonly files: Files,
    private readonly uploads: FileUploads,
  ) {}

  @Route(routes.uploadAnthropicFile)
  async uploadAnthropicFile({ caller, request }: RouteInput<typeof routes.uploadAnthropicFile>) {
    return toFile(await this.uploads.receive(caller, request));
  }

  @Route(routes.listAnthropicFiles)
  async listAnthropicFiles({ query, caller }: RouteInput<typeof routes.listAnthropicFiles>) {
    const { accountId } = caller;
    if (query.scope_id !== undefined) throw refuse('scope_id', 'the list of the files of a session');
    const ids = query.ids ?? query['ids[]'];
    if (ids) {
      const known = ids.flatMap((id) => fileId.safeParse(id).data ?? []).slice(0, mostIds);
      return { data: (await this.files.find(accountId, known)).map(toFile), next_page: null };
    }
    const { limit, page: after } = query;
    const { data, next_cursor } = await this.files.list({ accountId, limit, after });
    return { data: data.map(toFile), next_page: next_cursor };
  }

  @Route(routes.getAnthropicFile)
  async getAnthropicFile({ address }: RouteInput<typeof routes.getAnthropicFile>) {
    return toFile(await this.files.get(address));
  }

  @Route(routes.readAnthropicFile)
  async readAnthropicFile({ address, request, response }: RouteInput<typeof routes.readAnthropicFile>) {
    const file = await this.files.get(address);
    const content = Readable.from(this.files.content(file), { objectMode: false });
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(addAbortSignal(clientSignal(request, response), content), {
      type: 'application/octet-stream',
      length: file.size,
      disposition: 'attachment',
    });
  }

  @Route(routes.deleteAnthropicFile)
  async deleteAnthropicFile({ address }: RouteInput<typeof routes.deleteAnthropicFile>) {
    await this.files.delete(address);
    return { id: address.fileId, type: 'file_deleted' };
  }
}

const mostIds = 100;

const toFile = ({ id, name, size, media_type, created_at }: StoredFile) => ({
  ...{ id, type: 'file', filename: name, mime_type: media_type, size_bytes: size, created_at },
  ...{ downloadable: true, expires_at: null, scope: null },
});
