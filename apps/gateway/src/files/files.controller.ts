import { Readable, addAbortSignal } from 'node:stream';
import { Controller, Delete, Get, HttpCode, Post, Query, Req, Res, StreamableFile } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller, type FileAddress, Files } from '@rondo/persistence';
import type { Request, Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { StreamsBody } from '../http/body.guard';
import { ClientSignal } from '../http/client-signal';
import { NoQuery } from '../http/no-query';
import { FileParam } from '../http/path-params';
import { FileUploads } from './file-uploads';
import { UploadedFileDto, UploadedFilePageDto, UploadedFileQueryDto } from './file.dto';

const binary = { type: 'string', format: 'binary' } as const;
const form = { type: 'object', required: ['file'], properties: { file: binary } };

@ApiTags('files')
@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly files: Files,
    private readonly uploads: FileUploads,
  ) {}

  @Post()
  @StreamsBody()
  @ApiOperation({
    summary: 'Upload a file',
    description:
      'A form with one part, `file`. A repeated request stores another file; one that no run refers to is deleted after a day.',
  })
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: form, examples: { form: { value: { file: 'the bytes of sales.csv' } } } })
  @ApiCreatedResponse({ type: UploadedFileDto.Output })
  async uploadFile(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const file = await this.uploads.receive(caller, request);
    response.location(`/v1/files/${file.id}`);
    return file;
  }

  @Get()
  @ApiOperation({ summary: 'List uploaded files, newest first' })
  @ApiOkResponse({ type: UploadedFilePageDto.Output })
  listUploadedFiles(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: UploadedFileQueryDto) {
    return this.files.list({ accountId, limit, after });
  }

  @Get(':file_id')
  @ApiOperation({ summary: 'Read what is known of an uploaded file' })
  @ApiOkResponse({ type: UploadedFileDto.Output })
  getUploadedFile(@FileParam() address: FileAddress, @NoQuery() _: object) {
    return this.files.get(address);
  }

  @Get(':file_id/content')
  @ApiOperation({ summary: 'Read the content of an uploaded file' })
  @ApiOkResponse({ content: { 'application/octet-stream': { schema: binary } } })
  async readUploadedFile(@FileParam() address: FileAddress, @NoQuery() _: object, @ClientSignal() client: AbortSignal) {
    const file = await this.files.get(address);
    const content = addAbortSignal(client, Readable.from(this.files.content(file), { objectMode: false }));
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(content, {
      type: 'application/octet-stream',
      length: file.size,
      disposition: 'attachment',
    });
  }

  @Delete(':file_id')
  @Audited('file.delete')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an uploaded file',
    description:
      'What runs have got in their workspaces stays. A run that has not got it yet is told that it is missing.',
  })
  @ApiNoContentResponse()
  deleteUploadedFile(@FileParam() address: FileAddress) {
    return this.files.delete(address);
  }
}
