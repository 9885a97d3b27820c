import { Controller, Delete, Get, HttpCode, Put, Query, Req, StreamableFile } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { SandboxAddress } from '@rondo/persistence';
import type { Request } from 'express';
import { Audited } from '../audit/audited';
import { StreamsBody } from '../http/body.guard';
import { ClientSignal, clientSignal } from '../http/client-signal';
import { TakesQuery } from '../http/no-query';
import { SandboxParam } from '../http/path-params';
import { SandboxService } from './sandbox-service';
import { FileDeletionQueryDto, FileListDto, FileListQueryDto, FileQueryDto, WrittenFileDto } from './sandbox.dto';

const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } as const;

/** Files of any size, in streams. */
@ApiTags('sandboxes')
@Controller('v1/sandboxes/:sandbox_id/files')
export class SandboxFilesController {
  constructor(private readonly service: SandboxService) {}

  @Get()
  @ApiOperation({ summary: 'List files; `node_modules` and `.git` are listed but not entered' })
  @ApiOkResponse({ type: FileListDto.Output })
  listFiles(@SandboxParam() address: SandboxAddress, @Query() query: FileListQueryDto) {
    return this.service.listFiles(address, query);
  }

  @Get('content')
  @ApiOperation({ summary: 'Read a file' })
  @ApiOkResponse({ content: bytes })
  async readFile(
    @SandboxParam() address: SandboxAddress,
    @Query() { path }: FileQueryDto,
    @ClientSignal() client: AbortSignal,
  ) {
    const { content, size } = await this.service.readFile(address, path, client);
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(content, { type: 'application/octet-stream', length: size, disposition: 'attachment' });
  }

  @Put('content')
  @Audited('sandbox_file.write')
  @TakesQuery()
  @StreamsBody()
  @ApiOperation({
    summary: 'Write a file: the body is its content, of any type and length',
    description: 'Creates missing directories. The file is replaced once the whole body has arrived, or not at all.',
  })
  @ApiConsumes('application/octet-stream')
  @ApiBody({ schema: { type: 'string', format: 'binary' } })
  @ApiOkResponse({ type: WrittenFileDto.Output })
  writeFile(@SandboxParam() address: SandboxAddress, @Query() { path }: FileQueryDto, @Req() request: Request) {
    return this.service.writeFile(address, path, { source: request, client: clientSignal(request, request.res) });
  }

  @Delete()
  @Audited('sandbox_file.delete')
  @TakesQuery()
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a file or a directory' })
  @ApiNoContentResponse()
  deleteFile(@SandboxParam() address: SandboxAddress, @Query() query: FileDeletionQueryDto) {
    return this.service.deleteFile(address, query);
  }
}
