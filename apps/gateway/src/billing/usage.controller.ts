import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type UsageGroup, UsageLedger } from '@rondo/persistence';
import type { Response } from 'express';
import { CurrentCaller } from '../auth/api-key.guard';
import { csvOf } from './csv';
import { UsageEntryPageDto, UsageEntryQueryDto, UsageQueryDto, UsageReportDto, rangeOf, usageSums } from './usage.dto';

const columnOf = { day: 'day', model: 'model', agent: 'agent_id' } as const satisfies Record<UsageGroup, string>;
const sums = usageSums.keyof().options;
const entryColumns = UsageEntryPageDto.schema.shape.data.element.keyof().options;

@ApiTags('usage')
@Controller('v1/usage')
export class UsageController {
  constructor(private readonly ledger: UsageLedger) {}

  @Get()
  @ApiOperation({
    summary: 'Sum up what model calls have used',
    description:
      'From the ledger, which has one entry for each model call, and keeps those of deleted threads. With ' +
      '`Accept: text/csv` the rows come as CSV, without the total.',
  })
  @ApiOkResponse({ type: UsageReportDto.Output })
  async getUsage(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: UsageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { group_by: groups, limit } = query;
    const report = await this.ledger.report({ ...filterOf(query), accountId, groups, limit });
    if (!wantsCsv(response)) return report;
    response.type('text/csv');
    return csvOf([...groups.map((group) => columnOf[group]), ...sums], report.data);
  }

  @Get('entries')
  @ApiOperation({
    summary: 'List the model calls of the ledger, newest first',
    description: 'With `Accept: text/csv` the page comes as CSV; `X-Next-Cursor` is the `after` of the next one.',
  })
  @ApiOkResponse({ type: UsageEntryPageDto.Output })
  async listUsageEntries(
    @CurrentCaller() { accountId }: Caller,
    @Query() query: UsageEntryQueryDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { limit, after } = query;
    const page = await this.ledger.entries({ ...filterOf(query), accountId, limit, after });
    if (!wantsCsv(response)) return page;
    response.type('text/csv');
    if (page.next_cursor !== null) response.setHeader('X-Next-Cursor', page.next_cursor);
    return csvOf(entryColumns, page.data);
  }
}

const wantsCsv = ({ req }: Response): boolean => req.accepts(['application/json', 'text/csv']) === 'text/csv';

const filterOf = (query: UsageEntryQueryDto | UsageQueryDto) => ({
  ...rangeOf(query, Date.now()),
  agentId: query.agent_id,
  runId: query.run_id,
  threadId: query.thread_id,
  model: query.model,
});
