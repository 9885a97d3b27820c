import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type RunAddress, Runs } from '@rondo/persistence';
import { CurrentCaller } from '../auth/api-key.guard';
import { RunParam } from '../http/path-params';
import { metadataOf } from '../http/metadata';
import { NoQuery } from '../http/no-query';
import {
  AgentResultDto,
  EventPageDto,
  EventQueryDto,
  LogVerificationDto,
  RunCountsDto,
  RunDto,
  RunPageDto,
  ToolCallPageDto,
  ToolCallQueryDto,
  RunWaitDto,
} from './run.dto';
import { RunWaits } from './run-waits';
import { TraceLinks } from './trace-links';
import { RunCountQueryDto, RunQueryDto } from './run-query.dto';

@ApiTags('runs')
@Controller('v1/runs')
export class RunReadsController {
  constructor(
    private readonly runs: Runs,
    private readonly traceLinks: TraceLinks,
    private readonly waits: RunWaits,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List runs, newest first' })
  @ApiOkResponse({ type: RunPageDto.Output })
  listRuns(@CurrentCaller() { accountId }: Caller, @Query() { limit, after, ...filter }: RunQueryDto) {
    return this.runs.list({
      ...{ accountId, limit, after, statuses: filter.status },
      ...{ threadId: filter.thread_id, agentId: filter.agent_id, parentRunId: filter.parent_run_id },
      metadata: metadataOf(filter),
      ...{ projectId: filter.project_id, words: filter.q },
      ...{ createdFrom: filter.created_from, createdBefore: filter.created_before },
    });
  }

  @Get('counts')
  @ApiOperation({ summary: 'Count runs by status' })
  @ApiOkResponse({ type: RunCountsDto.Output })
  countRuns(
    @CurrentCaller() { accountId }: Caller,
    @Query() { thread_id: threadId, agent_id: agentId, project_id: projectId }: RunCountQueryDto,
  ) {
    return this.runs.count({ accountId, threadId, agentId, projectId });
  }

  @Get(':run_id')
  @ApiOperation({ summary: 'Read a run' })
  @ApiOkResponse({ type: RunDto.Output })
  async getRun(@RunParam() { accountId, runId }: RunAddress, @NoQuery() _: object) {
    return this.traceLinks.linked(await this.runs.getWithChildren({ accountId, runId }));
  }

  @Get(':run_id/why')
  @ApiOperation({ summary: 'Say in one sentence, and as data, what a run waits for' })
  @ApiOkResponse({ type: RunWaitDto.Output })
  explainRun(@RunParam() { accountId, runId }: RunAddress, @NoQuery() _: object) {
    return this.waits.explain({ accountId, runId });
  }

  @Get(':run_id/events')
  @ApiOperation({ summary: "Read a run's facts in order" })
  @ApiOkResponse({ type: EventPageDto.Output })
  listRunEvents(@RunParam() { accountId, runId }: RunAddress, @Query() { after, limit }: EventQueryDto) {
    return this.runs.events({ accountId, runId }, { after, limit });
  }

  @Get(':run_id/events/verify')
  @ApiOperation({ summary: "Prove that a run's log is complete" })
  @ApiOkResponse({ type: LogVerificationDto.Output })
  verifyRunEvents(@RunParam() { accountId, runId }: RunAddress, @NoQuery() _: object) {
    return this.runs.verify({ accountId, runId });
  }

  @Get(':run_id/tool-calls')
  @ApiOperation({ summary: "List a run's tool calls, from the effect ledger" })
  @ApiOkResponse({ type: ToolCallPageDto.Output })
  listRunToolCalls(@RunParam() { accountId, runId }: RunAddress, @Query() { limit, after }: ToolCallQueryDto) {
    return this.runs.toolCalls({ accountId, runId }, { limit, after });
  }

  @Get(':run_id/result')
  @ApiOperation({ summary: 'Read the result of a terminal run' })
  @ApiOkResponse({ type: AgentResultDto.Output })
  getRunResult(@RunParam() { accountId, runId }: RunAddress, @NoQuery() _: object) {
    return this.runs.result({ accountId, runId });
  }
}
