import { Controller, Get, Query, Res, StreamableFile, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ProjectId, type RunId, type Sha256, type ThreadId, imageMediaType } from '@rondo/contract';
import { messagesForNextRun } from '@rondo/domain';
import { PublicReads } from '@rondo/persistence';
import type { Response } from 'express';
import { ZodSerializerDto, ZodSerializerInterceptor } from 'nestjs-zod';
import { OpenRoute } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { PublicImageParam, PublicProjectParam, PublicRunParam, PublicThreadParam } from '../http/public-params';
import {
  ProjectQueryDto,
  PublicMessagePageDto,
  PublicProjectDto,
  PublicRunDto,
  PublicThreadDto,
  PublicThreadPageDto,
} from './project.dto';
import { LlmMessageListDto } from '../threads/llm-message.dto';
import { PublicRateGuard } from './public-rate.guard';

const image = { schema: { type: 'string', format: 'binary' } } as const;

/**
 * What is shared, for everyone, with or without a key. Only reads: a route that changes something does not belong here. Answers
 * are parsed by their schema, so that a field that it does not declare never leaves.
 */
@ApiTags('public')
@UseGuards(PublicRateGuard)
@UseInterceptors(ZodSerializerInterceptor)
@Controller('v1/public')
export class PublicReadsController {
  constructor(private readonly reads: PublicReads) {}

  @Get('projects/:project_id')
  @OpenRoute()
  @ApiOperation({ summary: 'Read a public project' })
  @ApiOkResponse({ type: PublicProjectDto.Output })
  @ZodSerializerDto(PublicProjectDto)
  getPublicProject(@PublicProjectParam() id: ProjectId, @NoQuery() _: object) {
    return this.reads.project(id);
  }

  @Get('projects/:project_id/threads')
  @OpenRoute()
  @ApiOperation({ summary: 'List the threads of a public project, newest first' })
  @ApiOkResponse({ type: PublicThreadPageDto.Output })
  @ZodSerializerDto(PublicThreadPageDto)
  listPublicThreads(@PublicProjectParam() projectId: ProjectId, @Query() { limit, after }: ProjectQueryDto) {
    return this.reads.threads({ projectId, limit, after });
  }

  @Get('threads/:thread_id')
  @OpenRoute()
  @ApiOperation({ summary: 'Read a public thread' })
  @ApiOkResponse({ type: PublicThreadDto.Output })
  @ZodSerializerDto(PublicThreadDto)
  getPublicThread(@PublicThreadParam() id: ThreadId, @NoQuery() _: object) {
    return this.reads.thread(id);
  }

  @Get('threads/:thread_id/messages')
  @OpenRoute()
  @ApiOperation({ summary: 'List the dialogue of a public thread in order' })
  @ApiOkResponse({ type: PublicMessagePageDto.Output })
  @ZodSerializerDto(PublicMessagePageDto)
  listPublicMessages(@PublicThreadParam() threadId: ThreadId, @Query() { limit, after }: ProjectQueryDto) {
    return this.reads.messages({ threadId, limit, after });
  }

  @Get('threads/:thread_id/llm-messages')
  @OpenRoute()
  @ApiOperation({ summary: "List the messages that the model of a public thread's next run would receive" })
  @ApiOkResponse({ type: LlmMessageListDto.Output })
  @ZodSerializerDto(LlmMessageListDto)
  async listPublicLlmMessages(@PublicThreadParam() threadId: ThreadId, @NoQuery() _: object) {
    return { data: messagesForNextRun(await this.reads.forNextRun(threadId)) };
  }

  @Get('threads/:thread_id/images/:sha256')
  @OpenRoute()
  @ApiOperation({ summary: 'Read the bytes of an image that a public thread shows' })
  @ApiOkResponse({ content: Object.fromEntries(imageMediaType.options.map((type) => [type, image])) })
  async getPublicImage(
    @PublicImageParam() address: { threadId: ThreadId; sha256: Sha256 },
    @NoQuery() _: object,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { mediaType, bytes } = await this.reads.image(address);
    response.set('Cache-Control', 'no-store'); // sharing can end
    return new StreamableFile(bytes, { type: mediaType, length: bytes.length, disposition: 'inline' });
  }

  @Get('runs/:run_id')
  @OpenRoute()
  @ApiOperation({ summary: 'Read a run of a public thread' })
  @ApiOkResponse({ type: PublicRunDto.Output })
  @ZodSerializerDto(PublicRunDto)
  getPublicRun(@PublicRunParam() id: RunId, @NoQuery() _: object) {
    return this.reads.run(id);
  }
}
