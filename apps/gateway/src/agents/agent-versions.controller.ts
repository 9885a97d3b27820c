import { Body, Controller, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Agent } from '@rondo/contract';
import { definitionChanges } from '@rondo/domain';
import { type AgentAddress, AgentVersions, type VersionAddress } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { NoQuery } from '../http/no-query';
import { AgentParam, AgentVersionParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import {
  AgentComparisonDto,
  AgentDto,
  AgentVersionDto,
  AgentVersionPageDto,
  AgentVersionQueryDto,
  ComparisonQueryDto,
  VersionActivationDto,
  VersionChangeDto,
} from './agent.dto';

@ApiTags('agents')
@Controller('v1/agents/:agent_id')
export class AgentVersionsController {
  constructor(private readonly versions: AgentVersions) {}

  @Get('versions')
  @ApiOperation({ summary: "List an agent's versions, newest first" })
  @ApiOkResponse({ type: AgentVersionPageDto.Output })
  listAgentVersions(@AgentParam() address: AgentAddress, @Query() { limit, after }: AgentVersionQueryDto) {
    return this.versions.list({ ...address, limit, after });
  }

  @Get('versions/:version')
  @ApiOperation({ summary: 'Read a version' })
  @ApiOkResponse({ type: AgentVersionDto.Output })
  getAgentVersion(@AgentVersionParam() address: VersionAddress, @NoQuery() _: object) {
    return this.versions.get(address);
  }

  @Patch('versions/:version')
  @Audited('agent.version_change')
  @ApiOperation({ summary: 'Change the note of a version', description: 'Its definition never changes.' })
  @ApiOkResponse({ type: AgentVersionDto.Output })
  updateAgentVersion(@AgentVersionParam() address: VersionAddress, @Body() { note }: VersionChangeDto) {
    return this.versions.setNote({ ...address, note });
  }

  @Post('versions/:version/activate')
  @Audited('agent.activate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Begin new runs with this version, for example an earlier one',
    description: 'It makes no new version. Runs keep the version they began with.',
  })
  @ApiOkResponse({ type: AgentDto.Output })
  activateAgentVersion(
    @AgentVersionParam() { accountId, agentId, version }: VersionAddress,
    @Body() { if_version: ifVersion }: VersionActivationDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<Agent>(response, { status: 200 });
    return this.versions.activate({ accountId, agentId, version, ifVersion, promised });
  }

  @Get('compare')
  @ApiOperation({ summary: 'The differences between two versions, by JSON Pointer' })
  @ApiOkResponse({ type: AgentComparisonDto.Output })
  async compareAgentVersions(@AgentParam() address: AgentAddress, @Query() { from, to }: ComparisonQueryDto) {
    const [before, after] = [
      await this.versions.get({ ...address, version: from }),
      await this.versions.get({ ...address, version: to }),
    ];
    const notes = { from_note: before.note, to_note: after.note };
    return { from, to, ...notes, changes: definitionChanges(before.definition, after.definition) };
  }
}
