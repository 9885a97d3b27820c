import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AuditLog, type Caller } from '@rondo/persistence';
import { CurrentCaller, RequireRole } from '../auth/api-key.guard';
import { AuditPageDto, AuditQueryDto } from './audit.dto';

@ApiTags('accounts')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly auditLog: AuditLog) {}

  @Get()
  @RequireRole('account-admin')
  @ApiOperation({
    summary: 'List the administrative acts of the account, newest first; for its admins',
    description: 'Routes with `x-audit` in this document are recorded, and the same acts over sockets.',
  })
  @ApiOkResponse({ type: AuditPageDto.Output })
  listAudit(@CurrentCaller() { accountId }: Caller, @Query() { limit, after, action }: AuditQueryDto) {
    return this.auditLog.list({ accountId, limit, after, action });
  }
}
