import { Body, Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { SandboxAddress } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { ClientSignal } from '../http/client-signal';
import { NoQuery } from '../http/no-query';
import { SandboxParam } from '../http/path-params';
import { BrowserAccess } from './browser-access';
import { BrowserOperationDto, BrowserScreenDto } from './sandbox.dto';

/** The browser of the agent, for a person who helps it along: a captcha, a login, a second factor. */
@ApiTags('sandboxes')
@Controller('v1/sandboxes/:sandbox_id/browser')
export class SandboxBrowserController {
  constructor(private readonly access: BrowserAccess) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: "See what the sandbox's browser shows now",
    description: 'Starts nothing, and disturbs no call of the agent. To be asked for again about every second.',
  })
  @ApiOkResponse({ type: BrowserScreenDto.Output })
  getBrowser(@SandboxParam() address: SandboxAddress, @NoQuery() _: object, @ClientSignal() client: AbortSignal) {
    return this.access.look(address, client);
  }

  @Post('actions')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @Audited('browser.operate')
  @ApiOperation({
    summary: "Click, type or go somewhere in the sandbox's browser, and see what it shows then",
    description:
      'For a person who does what the agent cannot: a captcha, a login, a second factor. Refused with `browser_busy` while a run ' +
      'that uses the sandbox is running; one that waits, for example for the answer to its question, may be helped. What is ' +
      'typed is stored and logged nowhere, and the audit log has only that the browser was operated. `Idempotency-Key` has no meaning here.',
  })
  @ApiOkResponse({ type: BrowserScreenDto.Output })
  operateBrowser(
    @SandboxParam() address: SandboxAddress,
    @Body() { action }: BrowserOperationDto,
    @ClientSignal() client: AbortSignal,
  ) {
    return this.access.act(address, action, client);
  }
}
