import { Controller, Get, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { imageMediaType } from '@rondo/contract';
import { type BlobAddress, Blobs } from '@rondo/persistence';
import type { Response } from 'express';
import { NoQuery } from '../http/no-query';
import { BlobParam } from '../http/path-params';

const image = { schema: { type: 'string', format: 'binary' } } as const;

@ApiTags('threads')
@Controller('v1/blobs')
export class BlobsController {
  constructor(private readonly blobs: Blobs) {}

  @Get(':sha256')
  @ApiOperation({ summary: 'Read the bytes of an image that a message or a result refers to' })
  @ApiOkResponse({ content: Object.fromEntries(imageMediaType.options.map((type) => [type, image])) })
  async getBlob(
    @BlobParam() { accountId, sha256 }: BlobAddress,
    @NoQuery() _: object,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { mediaType, bytes } = await this.blobs.get({ accountId, sha256 });
    response.set('Cache-Control', 'private, max-age=31536000, immutable'); // content-addressed, so it never changes
    return new StreamableFile(bytes, { type: mediaType, length: bytes.length, disposition: 'inline' });
  }
}
