import { Controller } from '@nestjs/common';
import { audit } from '@rondo/contract/api';
import { AuditLog } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class AuditController {
  constructor(private readonly auditLog: AuditLog) {}

  @Route(audit.listAudit)
  listAudit({ address, query }: RouteInput<typeof audit.listAudit>) {
    return this.auditLog.list({ ...address, ...query });
  }
}
