import { Controller } from '@nestjs/common';
import { audit } from '@rondo/contract/api';
import { AuditLog } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class AuditController {
  constructor(private readonly auditLog: AuditLog) {}

  @Route(audit.listAudit)
  listAudit({ address, query }: RouteInput<typeof audit.listAudit>) {
    const { caller_id: callerId, created_from: createdFrom, created_before: createdBefore, ...others } = query;
    return this.auditLog.list({ ...address, ...others, callerId, createdFrom, createdBefore });
  }
}
