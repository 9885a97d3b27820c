import { Readable, addAbortSignal } from 'node:stream';
import { Controller, StreamableFile } from '@nestjs/common';
import { files as routes } from '@rondo/contract/api';
import { Files } from '@rondo/persistence';
import { clientSignal } from '../http/client-signal';
import { Route, type RouteInput } from '../http/route';
import { FileUploads } from './file-uploads';

@Controller()
export class FilesController {
  constructor(
    private readonly files: Files,
    private readonly uploads: FileUploads,
  ) {}

  @Route(routes.uploadFile)
  uploadFile({ caller, request }: RouteInput<typeof routes.uploadFile>) {
    return this.uploads.receive(caller, request);
  }

  @Route(routes.listUploadedFiles)
  listUploadedFiles({ address, query }: RouteInput<typeof routes.listUploadedFiles>) {
    return this.files.list({ ...address, ...query });
  }

  @Route(routes.getUploadedFile)
  getUploadedFile({ address }: RouteInput<typeof routes.getUploadedFile>) {
    return this.files.get(address);
  }

  @Route(routes.readUploadedFile)
  async readUploadedFile({ address, request, response }: RouteInput<typeof routes.readUploadedFile>) {
    const client = clientSignal(request, response);
    const file = await this.files.get(address);
    const content = addAbortSignal(client, Readable.from(this.files.content(file), { objectMode: false }));
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(content, {
      type: 'application/octet-stream',
      length: file.size,
      disposition: 'attachment',
    });
  }

  @Route(routes.deleteUploadedFile)
  deleteUploadedFile({ address }: RouteInput<typeof routes.deleteUploadedFile>) {
    return this.files.delete(address);
  }
}
