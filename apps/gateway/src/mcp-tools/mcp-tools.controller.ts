import { Body, Controller, Delete, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { KnownMcpTool } from '@rondo/contract';
import { type Caller, type McpToolAddress, McpToolDefinitions } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery, TakesQuery } from '../http/no-query';
import { McpToolParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import {
  ForgottenMcpToolsDto,
  McpServerQueryDto,
  McpToolConfirmationDto,
  McpToolDto,
  McpToolPageDto,
  McpToolQueryDto,
} from './mcp-tool.dto';

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

  @Delete()
  @TakesQuery()
  @Audited('mcp_server.forget')
  @ApiOperation({
    summary: 'Forget the tools of a server, by the name that runs give it',
    description: 'The next run that names the server accepts what it says then.',
  })
  @ApiOkResponse({ type: ForgottenMcpToolsDto.Output })
  async forgetMcpServer(@CurrentCaller() { accountId }: Caller, @Query() { server }: McpServerQueryDto) {
    return { forgotten: await this.definitions.forgetServer(accountId, server) };
  }

  @Delete(':mcp_tool_id')
  @Audited('mcp_tool.forget')
  @HttpCode(204)
  @ApiOperation({ summary: 'Forget a tool. The next run that sees it accepts what its server says then' })
  @ApiNoContentResponse()
  forgetMcpTool(@McpToolParam() address: McpToolAddress) {
    return this.definitions.forget(address);
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
