import { setTimeout as sleep } from 'node:timers/promises';
import { Controller } from '@nestjs/common';
import { users as routes } from '@rondo/contract/api';
import { type ErasedUser, type UserAddress, Users } from '@rondo/persistence';
import { Revocations } from '../auth/open-connections';
import { Route, type RouteInput } from '../http/route';
import { RunService } from '../runs/run-service';

/** How long a request waits for workers to stop the runs of a person. */
const stopWithinMs = 10_000;
const pollMs = 100;

@Controller()
export class UsersController {
  constructor(
    private readonly users: Users,
    private readonly runService: RunService,
    private readonly revocations: Revocations,
  ) {}

  @Route(routes.getUser)
  getUser({ address }: RouteInput<typeof routes.getUser>) {
    return this.users.get(address);
  }

  @Route(routes.eraseUser)
  async eraseUser({ address }: RouteInput<typeof routes.eraseUser>) {
    await this.users.get(address);
    const erased = await this.erase(address);
    return erased.active_runs === 0
      ? ({ status: 200, body: erased } as const)
      : ({ status: 202, body: erased } as const);
  }

  private async erase(address: UserAddress): Promise<ErasedUser> {
    const tokens = await this.users.endTokens(address);
    await this.revocations.apply();
    const until = performance.now() + stopWithinMs;
    for (;;) {
      const active = await this.users.findActiveRuns(address);
      for (const runId of active)
        await this.runService.stop({ accountId: address.accountId, runId }, 'the user was erased');
      if (active.length === 0 || performance.now() > until) return this.users.erase(address, tokens);
      await sleep(pollMs);
    }
  }
}
