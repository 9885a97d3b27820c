import { Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type SandboxAddress, Sandboxes, type ThreadAddress } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller } from '../auth/api-key.guard';
import { NoQuery } from '../http/no-query';
import { SandboxParam, ThreadParam } from '../http/path-params';
import { SandboxService } from './sandbox-service';
import { SandboxPageDto, SandboxQueryDto, SandboxStatusDto } from './sandbox.dto';

@ApiTags('sandboxes')
@Controller('v1')
export class SandboxesController {
  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly service: SandboxService,
  ) {}

  @Get('sandboxes')
  @ApiOperation({
    summary: 'List sandboxes with their states and what they cost, newest first',
    description: 'Wakes nothing. Where an executor does not answer in time, the states of its sandboxes are `unknown`.',
  })
  @ApiOkResponse({ type: SandboxPageDto.Output })
  async listSandboxes(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: SandboxQueryDto) {
    const page = await this.sandboxes.list({ accountId, limit, after });
    return { ...page, data: await this.service.statuses(accountId, page.data) };
  }

  @Get('sandboxes/:sandbox_id')
  @ApiOperation({ summary: 'Read a sandbox and its state' })
  @ApiOkResponse({ type: SandboxStatusDto.Output })
  getSandbox(@SandboxParam() address: SandboxAddress, @NoQuery() _: object) {
    return this.service.status(address);
  }

  @Get('threads/:thread_id/sandbox')
  @ApiOperation({ summary: "Read a thread's sandbox and its state", description: 'Creates and wakes nothing.' })
  @ApiOkResponse({ type: SandboxStatusDto.Output })
  getThreadSandbox(@ThreadParam() address: ThreadAddress, @NoQuery() _: object) {
    return this.service.statusOfThread(address);
  }

  @Post('threads/:thread_id/sandbox')
  @HttpCode(200)
  @ApiOperation({ summary: "Wake a thread's sandbox; where it has none, create one" })
  @ApiOkResponse({ type: SandboxStatusDto.Output })
  ensureSandbox(@ThreadParam() address: ThreadAddress) {
    return this.service.ensure(address);
  }

  @Post('sandboxes/:sandbox_id/start')
  @HttpCode(200)
  @ApiOperation({ summary: 'Wake a sandbox' })
  @ApiOkResponse({ type: SandboxStatusDto.Output })
  startSandbox(@SandboxParam() address: SandboxAddress) {
    return this.service.change(address, 'start');
  }

  @Post('sandboxes/:sandbox_id/stop')
  @Audited('sandbox.stop')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Kill all processes of a sandbox; its files stay',
    description: 'A command of a run that is under way is killed too, and the run is told that its sandbox was lost.',
  })
  @ApiOkResponse({ type: SandboxStatusDto.Output })
  stopSandbox(@SandboxParam() address: SandboxAddress) {
    return this.service.change(address, 'stop');
  }

  @Delete('sandboxes/:sandbox_id')
  @Audited('sandbox.delete')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Kill all processes of a sandbox and delete its files',
    description: 'Its thread stays, and begins with an empty workspace at its next use.',
  })
  @ApiNoContentResponse()
  deleteSandbox(@SandboxParam() address: SandboxAddress) {
    return this.service.remove(address);
  }
}
