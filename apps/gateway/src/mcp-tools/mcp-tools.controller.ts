import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { KnownMcpTool } from '@rondo/contract';
import { type Caller, type McpToolAddress, McpToolDefinitions } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { McpToolParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { McpToolConfirmationDto, McpToolDto, McpToolPageDto, McpToolQueryDto } from './mcp-tool.dto';

@ApiTags('people')
@Controller('v1/mcp-tools')
export class McpToolsController {
  constructor(private readonly definitions: McpToolDefinitions) {}

  @Get()
  @ApiOperation({
    summary: 'List the tools of MCP servers that runs of the account have seen, newest first',
    description: 'A tool that its server has changed is not offered to runs until a person confirms the change.',
  })
  @ApiOkResponse({ type: McpToolPageDto.Output })
  listMcpTools(@CurrentCaller() { accountId }: Caller, @Query() { limit, after, state }: McpToolQueryDto) {
    return this.definitions.list({ accountId, limit, after, onlyChanged: state === 'changed' });
  }

  @Get(':mcp_tool_id')
  @ApiOperation({ summary: 'Read a tool of an MCP server: what was accepted, and what the server says now' })
  @ApiOkResponse({ type: McpToolDto.Output })
  getMcpTool(@McpToolParam() address: McpToolAddress, @NoQuery() _: object) {
    return this.definitions.get(address);
  }

  @Post(':mcp_tool_id/confirm')
  @Audited('mcp_tool.confirm')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Confirm the changed definition of a tool',
    description: 'Runs that start from now on are offered it. Refused if the server has changed it again meanwhile.',
  })
  @ApiOkResponse({ type: McpToolDto.Output })
  confirmMcpTool(
    @McpToolParam() { accountId, mcpToolId, keyId }: McpToolAddress & Pick<Caller, 'keyId'>,
    @Body() { fingerprint }: McpToolConfirmationDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<KnownMcpTool>(response, { status: 200 });
    return this.definitions.confirm({ accountId, mcpToolId, fingerprint, confirmedBy: keyId, promised });
  }
}
