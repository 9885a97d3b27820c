import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Agent } from '@rondo/contract';
import { type AgentAddress, Agents, type Caller, type ThreadAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { AgentParam, ThreadParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import {
  AgentChangeDto,
  AgentDto,
  AgentPageDto,
  AgentQueryDto,
  DeclaredAgentDto,
  NewAgentDto,
  ThreadAgentDto,
} from './agent.dto';
import { type AgentName, AgentNameParam } from './agent-name-param';
import { AgentService } from './agent-service';

const locationOf = ({ id }: Agent): string => `/v1/agents/${id}`;

@ApiTags('agents')
@Controller('v1')
export class AgentsController {
  constructor(
    private readonly agents: Agents,
    private readonly service: AgentService,
  ) {}

  @Post('agents')
  @Audited('agent.create')
  @ApiOperation({ summary: 'Store an agent, as version 1' })
  @ApiCreatedResponse({ type: AgentDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createAgent(
    @CurrentCaller() { accountId }: Caller,
    @Body() fields: NewAgentDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse(response, { status: 201, location: locationOf });
    const agent = await this.service.create(accountId, fields, promised);
    response.location(locationOf(agent));
    return agent;
  }

  @Get('agents')
  @ApiOperation({ summary: 'List agents, newest first unless sorted otherwise' })
  @ApiOkResponse({ type: AgentPageDto.Output })
  listAgents(@CurrentCaller() { accountId }: Caller, @Query() query: AgentQueryDto) {
    const { tag: tags, is_default: isDefault, has_mcp: hasMcp, ...rest } = query;
    return this.agents.list({ accountId, tags, isDefault, hasMcp, ...rest });
  }

  @Get('agents/:agent_id')
  @ApiOperation({ summary: 'Read an agent, with the definition of its active version' })
  @ApiOkResponse({ type: AgentDto.Output })
  getAgent(@AgentParam() address: AgentAddress, @NoQuery() _: object) {
    return this.agents.get(address);
  }

  @Patch('agents/:agent_id')
  @Audited('agent.change')
  @ApiOperation({
    summary: 'Change an agent',
    description:
      'Another definition becomes a new version, which is active from then on. Runs keep the version they began with.',
  })
  @ApiOkResponse({ type: AgentDto.Output })
  updateAgent(@AgentParam() address: AgentAddress, @Body() change: AgentChangeDto) {
    return this.service.update(address, change);
  }

  @Put('agents/by-name/:name')
  @Audited('agent.apply')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Create the agent of this name, or change it to this definition',
    description: 'Idempotent: the definition that it has already makes no new version.',
  })
  @ApiOkResponse({ type: AgentDto.Output })
  @ApiCreatedResponse({ type: AgentDto.Output, description: 'There was none of this name.' })
  async applyAgent(
    @AgentNameParam() { accountId, name }: AgentName,
    @Body() { definition, ...fields }: DeclaredAgentDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { agent, isNew } = await this.service.apply(accountId, { ...fields, definition: { ...definition, name } });
    response.location(locationOf(agent));
    if (isNew) response.status(201);
    return agent;
  }

  @Delete('agents/:agent_id')
  @Audited('agent.delete')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an agent that is not the default, with its versions',
    description: 'Its runs stay, with their settings. Its threads go on with the default of the account.',
  })
  @ApiNoContentResponse()
  deleteAgent(@AgentParam() address: AgentAddress) {
    return this.agents.delete(address);
  }

  @Get('threads/:thread_id/agent')
  @ApiOperation({ summary: "The agent of the thread's next run, unless that names one, and what decides it" })
  @ApiOkResponse({ type: ThreadAgentDto.Output })
  getThreadAgent(@ThreadParam() { accountId, threadId }: ThreadAddress, @NoQuery() _: object) {
    return this.service.ofThread(accountId, threadId);
  }
}
