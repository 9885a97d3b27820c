import { Controller } from '@nestjs/common';
import { approvals } from '@rondo/contract/api';
import { Runs } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { RunService } from '../runs/run-service';

@Controller()
export class ApprovalsController {
  constructor(
    private readonly runs: Runs,
    private readonly runService: RunService,
  ) {}

  @Route(approvals.listInbox)
  listInbox({ address, query }: RouteInput<typeof approvals.listInbox>) {
    return this.runs.inbox({ ...address, ...query });
  }

  @Route(approvals.listApprovals)
  listApprovals({ address, query }: RouteInput<typeof approvals.listApprovals>) {
    return this.runs.openApprovals({ ...address, ...query });
  }

  @Route(approvals.getApproval)
  getApproval({ address }: RouteInput<typeof approvals.getApproval>) {
    return this.runs.approval(address);
  }

  @Route(approvals.decideApproval)
  decideApproval({ address, caller, body, promised }: RouteInput<typeof approvals.decideApproval>) {
    const { arguments_hash: argumentsHash, ...decision } = body;
    return this.runService.decide({ ...address, ...decision, argumentsHash, decidedBy: caller.keyId, promised });
  }
}
