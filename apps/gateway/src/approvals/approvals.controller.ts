import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Approval } from '@rondo/contract';
import { type ApprovalAddress, type Caller, Runs } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { ApprovalParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { RunService } from '../runs/run-service';
import { ApprovalDecisionDto, ApprovalDto, ApprovalPageDto, ApprovalQueryDto, InboxPageDto } from './approval.dto';

@ApiTags('people')
@Controller('v1')
export class ApprovalsController {
  constructor(
    private readonly runs: Runs,
    private readonly runService: RunService,
  ) {}

  @Get('inbox')
  @ApiOperation({
    summary: 'List the runs that wait for a person',
    description:
      'Oldest first. `waiting.reason` says what to do: `ask` is answered by `POST /v1/runs/{id}/input`, `approval` by ' +
      '`POST /v1/approvals/{id}/decision`, `tool_unknown` by `POST /v1/tool-calls/{id}/resolve`, `budget` by ' +
      '`POST /v1/runs/{id}/budget`.',
  })
  @ApiOkResponse({ type: InboxPageDto.Output })
  listInbox(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: ApprovalQueryDto) {
    return this.runs.inbox({ accountId, limit, after });
  }

  @Get('approvals')
  @ApiOperation({ summary: 'List the calls that await an approval, oldest first' })
  @ApiOkResponse({ type: ApprovalPageDto.Output })
  listApprovals(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: ApprovalQueryDto) {
    return this.runs.openApprovals({ accountId, limit, after });
  }

  @Get('approvals/:approval_id')
  @ApiOperation({ summary: 'Read an approval, open or decided' })
  @ApiOkResponse({ type: ApprovalDto.Output })
  getApproval(@ApprovalParam() address: ApprovalAddress) {
    return this.runs.approval(address);
  }

  @Post('approvals/:approval_id/decision')
  @Audited('approval.decide')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Approve, edit or deny a tool call',
    description:
      'The first decision wins. It is about the arguments whose hash it names, and refused for others. The run goes on when ' +
      'none of its calls awaits an approval any more.',
  })
  @ApiOkResponse({ type: ApprovalDto.Output })
  decideApproval(
    @ApprovalParam() { accountId, keyId, approvalId }: ApprovalAddress & Pick<Caller, 'keyId'>,
    @Body() { decision, arguments_hash: argumentsHash, arguments: edited, reason }: ApprovalDecisionDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<Approval>(response, { status: 200 });
    const order = { accountId, approvalId, decision, argumentsHash, arguments: edited, reason, decidedBy: keyId };
    return this.runService.decide({ ...order, promised });
  }
}
