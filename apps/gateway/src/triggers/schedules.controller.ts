import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Caller, Executions, type ScheduleAddress, Schedules } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { ScheduleParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { RunDto, locationOf as locationOfRun } from '../runs/run.dto';
import { dueTimesOf, firstDueTimes } from './cron-times';
import { ScheduleService, type ShownSchedule } from './schedule-service';
import {
  DueTimesDto,
  DueTimesQueryDto,
  ExecutionPageDto,
  ExecutionQueryDto,
  NewScheduleDto,
  ScheduleChangeDto,
  ScheduleDto,
  SchedulePageDto,
  ScheduleQueryDto,
  UpcomingRunsDto,
  UpcomingRunsQueryDto,
} from './schedule.dto';

const locationOf = ({ id }: Pick<ShownSchedule, 'id'>): string => `/v1/schedules/${id}`;

@ApiTags('schedules')
@Controller('v1')
export class SchedulesController {
  constructor(
    private readonly service: ScheduleService,
    private readonly schedules: Schedules,
    private readonly executions: Executions,
  ) {}

  @Post('schedules')
  @Audited('schedule.create')
  @ApiOperation({ summary: 'Store a schedule, which starts runs at the times of a cron expression' })
  @ApiCreatedResponse({ type: ScheduleDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async createSchedule(
    @CurrentCaller() { accountId }: Caller,
    @Body() fields: NewScheduleDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse(response, { status: 201, location: locationOf });
    const schedule = await this.service.create(accountId, fields, promised);
    response.location(locationOf(schedule));
    return schedule;
  }

  @Get('schedules')
  @ApiOperation({ summary: 'List schedules, newest first' })
  @ApiOkResponse({ type: SchedulePageDto.Output })
  listSchedules(@CurrentCaller() { accountId }: Caller, @Query() { agent_id: agentId, ...page }: ScheduleQueryDto) {
    return this.service.list({ accountId, agentId, ...page });
  }

  @Get('schedules/upcoming')
  @ApiOperation({
    summary: 'The next due times of all schedules that are not paused, in order',
    description: 'What the overlap policy or a full queue will skip then is not known before.',
  })
  @ApiOkResponse({ type: UpcomingRunsDto.Output })
  async listUpcomingRuns(
    @CurrentCaller() { accountId }: Caller,
    @Query() { agent_id: agentId, limit }: UpcomingRunsQueryDto,
  ) {
    return { data: await this.service.upcoming({ accountId, agentId }, limit) };
  }

  @Get('due-times')
  @ApiOperation({ summary: 'The next due times of a cron expression in a time zone' })
  @ApiOkResponse({ type: DueTimesDto.Output })
  previewDueTimes(@Query() { cron, time_zone: zone, count }: DueTimesQueryDto) {
    const times = firstDueTimes(dueTimesOf(cron, zone), new Date(), count);
    return { data: times.map((at) => at.toISOString()) };
  }

  @Get('schedules/:schedule_id')
  @ApiOperation({ summary: 'Read a schedule, with its next due times' })
  @ApiOkResponse({ type: ScheduleDto.Output })
  getSchedule(@ScheduleParam() address: ScheduleAddress, @NoQuery() _: object) {
    return this.service.get(address);
  }

  @Patch('schedules/:schedule_id')
  @Audited('schedule.change')
  @ApiOperation({
    summary: 'Change a schedule',
    description: 'Another cron expression or time zone counts from now. `run` replaces the whole one.',
  })
  @ApiOkResponse({ type: ScheduleDto.Output })
  updateSchedule(@ScheduleParam() address: ScheduleAddress, @Body() changes: ScheduleChangeDto) {
    return this.service.update(address, changes);
  }

  @Delete('schedules/:schedule_id')
  @Audited('schedule.delete')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a schedule with its executions; its runs stay' })
  @ApiNoContentResponse()
  deleteSchedule(@ScheduleParam() address: ScheduleAddress) {
    return this.schedules.delete(address);
  }

  @Post('schedules/:schedule_id/pause')
  @Audited('schedule.pause')
  @HttpCode(200)
  @ApiOperation({ summary: 'Pause a schedule; idempotent' })
  @ApiOkResponse({ type: ScheduleDto.Output })
  pauseSchedule(@ScheduleParam() address: ScheduleAddress) {
    return this.service.update(address, { is_paused: true });
  }

  @Post('schedules/:schedule_id/resume')
  @Audited('schedule.resume')
  @HttpCode(200)
  @ApiOperation({ summary: 'End the pause; idempotent', description: 'Due times of the pause are not made up for.' })
  @ApiOkResponse({ type: ScheduleDto.Output })
  resumeSchedule(@ScheduleParam() address: ScheduleAddress) {
    return this.service.update(address, { is_paused: false });
  }

  @Post('schedules/:schedule_id/run')
  @Audited('schedule.run')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Start a run of the schedule now',
    description: 'Also while it is paused or another run is unfinished.',
  })
  @ApiAcceptedResponse({ type: RunDto.Output, headers: { Location: { schema: { type: 'string' } } } })
  async runSchedule(@ScheduleParam() address: ScheduleAddress, @Res({ passthrough: true }) response: Response) {
    const promised = pendingResponse(response, { status: 202, location: locationOfRun });
    const run = await this.service.runNow(address, { promised });
    response.location(locationOfRun(run));
    return run;
  }

  @Get('schedules/:schedule_id/executions')
  @ApiOperation({
    summary: 'What became of the due times of a schedule, newest first',
    description: 'Kept for 30 days.',
  })
  @ApiOkResponse({ type: ExecutionPageDto.Output })
  async listScheduleExecutions(@ScheduleParam() address: ScheduleAddress, @Query() page: ExecutionQueryDto) {
    const { id } = await this.schedules.get(address);
    return this.executions.list(id, page);
  }
}
