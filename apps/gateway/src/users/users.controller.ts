import { setTimeout as sleep } from 'node:timers/promises';
import { Controller } from '@nestjs/common';
import { users as usersRoutes, clientTokens as clientTokensRoutes } from '@rondo/contract/api';
import { type ErasedUser, type UserAddress, Users, ClientTokens } from '@rondo/persistence';
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

  @Route(usersRoutes.getUser)
  getUser({ address }: RouteInput<typeof usersRoutes.getUser>) {
    return this.users.get(address);
  }

  @Route(usersRoutes.eraseUser)
  async eraseUser({ address }: RouteInput<typeof usersRoutes.eraseUser>) {
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

@Controller()
export class ClientTokensController {
  constructor(
    private readonly tokens: ClientTokens,
    private readonly revocations: Revocations,
  ) {}

  @Route(clientTokensRoutes.createClientToken)
  createClientToken({ address, body, caller }: RouteInput<typeof clientTokensRoutes.createClientToken>) {
    const { user, thread_id: threadId, agent_id: agentId, scopes, expires_in: expiresIn } = body;
    return this.tokens.create({ ...address, createdBy: caller.keyId, user, threadId, agentId, scopes, expiresIn });
  }

  @Route(clientTokensRoutes.listClientTokens)
  listClientTokens({ address, query }: RouteInput<typeof clientTokensRoutes.listClientTokens>) {
    const { thread_id: threadId, ...filter } = query;
    return this.tokens.list({ ...address, ...filter, threadId });
  }

  @Route(clientTokensRoutes.revokeClientToken)
  async revokeClientToken({ address }: RouteInput<typeof clientTokensRoutes.revokeClientToken>) {
    await this.tokens.revoke({ accountId: address.accountId, id: address.clientTokenId });
    await this.revocations.apply();
  }
}
