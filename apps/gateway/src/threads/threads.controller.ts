import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { messagesForNextRun } from '@rondo/domain';
import { type Caller, Messages, type Thread, type ThreadAddress, Threads } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { AccountQuotas } from '../billing/account-quotas';
import { metadataOf } from '../http/metadata';
import { NoQuery } from '../http/no-query';
import { ThreadParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { LlmMessageListDto } from './llm-message.dto';
import {
  MessageDto,
  MessagePageDto,
  MessageQueryDto,
  NewMessageDto,
  NewThreadDto,
  ThreadChangeDto,
  ThreadDto,
  ThreadPageDto,
  ThreadQueryDto,
} from './thread.dto';

@ApiTags('threads')
@Controller('v1/threads')
export class ThreadsController {
  constructor(
    private readonly threads: Threads,
    private readonly messages: Messages,
    private readonly quotas: AccountQuotas,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create a thread' })
  @ApiCreatedResponse({ type: ThreadDto.Output })
  async createThread(
    @CurrentCaller() { accountId }: Caller,
    @Body() { agent_id: agentId, project_id: projectId, metadata }: NewThreadDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const location = ({ id }: Thread) => `/v1/threads/${id}`;
    const promised = pendingResponse(response, { status: 201, location });
    await this.quotas.add(accountId, { threads: 1 });
    const thread = await this.threads.create({ accountId, agentId, projectId, metadata, promised });
    response.location(location(thread));
    return thread;
  }

  @Get()
  @ApiOperation({ summary: 'List threads, newest first' })
  @ApiOkResponse({ type: ThreadPageDto.Output })
  listThreads(
    @CurrentCaller() { accountId }: Caller,
    @Query() { limit, after, project_id: projectId, ...filter }: ThreadQueryDto,
  ) {
    return this.threads.list({ accountId, projectId, limit, after, metadata: metadataOf(filter) });
  }

  @Get(':thread_id')
  @ApiOperation({ summary: 'Read a thread' })
  @ApiOkResponse({ type: ThreadDto.Output })
  getThread(@ThreadParam() address: ThreadAddress, @NoQuery() _: object) {
    return this.threads.get(address);
  }

  @Patch(':thread_id')
  @Audited('thread.share')
  @ApiOperation({ summary: 'Share a thread, or end its sharing' })
  @ApiOkResponse({ type: ThreadDto.Output })
  updateThread(
    @ThreadParam() { accountId, threadId }: ThreadAddress,
    @Body() { is_public: isPublic }: ThreadChangeDto,
  ) {
    return this.threads.update({ accountId, threadId, isPublic });
  }

  @Delete(':thread_id')
  @Audited('thread.delete')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a thread that has no active run, with its runs, messages, images and workspace',
    description: 'It is inaccessible at once; its data is deleted soon after.',
  })
  @ApiNoContentResponse()
  deleteThread(@ThreadParam() address: ThreadAddress) {
    return this.threads.delete(address);
  }

  @Post(':thread_id/messages')
  @ApiOperation({ summary: "Add a user message, which the thread's next run reads" })
  @ApiCreatedResponse({ type: MessageDto.Output })
  async createMessage(
    @ThreadParam() { accountId, threadId }: ThreadAddress,
    @Body() { content }: NewMessageDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const hasImages = content.some(({ type }) => type === 'image');
    await this.quotas.add(accountId, { message_bytes: 0, ...(hasImages && { image_bytes: 0 }) });
    return this.messages.add({ accountId, threadId, content, promised: pendingResponse(response, { status: 201 }) });
  }

  @Get(':thread_id/messages')
  @ApiOperation({ summary: 'List messages in thread order' })
  @ApiOkResponse({ type: MessagePageDto.Output })
  listMessages(
    @ThreadParam() { accountId, threadId }: ThreadAddress,
    @Query() { limit, after, type, llm_only: llmOnly }: MessageQueryDto,
  ) {
    return this.messages.list({ accountId, threadId, limit, after, type, llmOnly });
  }

  @Get(':thread_id/llm-messages')
  @ApiOperation({
    summary: "List the messages that the model of the thread's next run would receive",
    description:
      'Roles, tool calls and their results, from the newest summary on, without what is only shown to people. The system prompt ' +
      'and the input of the run are not among them. A run may send them otherwise: with a text dialect, with other context ' +
      'settings, or compacted for its model.',
  })
  @ApiOkResponse({ type: LlmMessageListDto.Output })
  async listLlmMessages(@ThreadParam() address: ThreadAddress, @NoQuery() _: object) {
    return { data: messagesForNextRun(await this.messages.forNextRun(address)) };
  }
}
