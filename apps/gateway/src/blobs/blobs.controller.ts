import { Controller, StreamableFile } from '@nestjs/common';
import { threads as routes } from '@rondo/contract/api';
import { Blobs } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class BlobsController {
  constructor(private readonly blobs: Blobs) {}

  @Route(routes.getBlob)
  async getBlob({ address, response }: RouteInput<typeof routes.getBlob>) {
    const { mediaType, bytes } = await this.blobs.get(address);
    response.set('Cache-Control', 'private, max-age=31536000, immutable'); // content-addressed, so it never changes
    return new StreamableFile(bytes, { type: mediaType, length: bytes.length, disposition: 'inline' });
  }
}
