import { Controller } from '@nestjs/common';
import { clientTokens as routes } from '@rondo/contract/api';
import { ClientTokens } from '@rondo/persistence';
import { Revocations } from '../auth/open-connections';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class ClientTokensController {
  constructor(
    private readonly tokens: ClientTokens,
    private readonly revocations: Revocations,
  ) {}

  @Route(routes.createClientToken)
  createClientToken({ address, body, caller }: RouteInput<typeof routes.createClientToken>) {
    const { user, thread_id: threadId, agent_id: agentId, scopes, expires_in: expiresIn } = body;
    return this.tokens.create({ ...address, createdBy: caller.keyId, user, threadId, agentId, scopes, expiresIn });
  }

  @Route(routes.listClientTokens)
  listClientTokens({ address, query }: RouteInput<typeof routes.listClientTokens>) {
    const { thread_id: threadId, ...filter } = query;
    return this.tokens.list({ ...address, ...filter, threadId });
  }

  @Route(routes.revokeClientToken)
  async revokeClientToken({ address }: RouteInput<typeof routes.revokeClientToken>) {
    await this.tokens.revoke({ accountId: address.accountId, id: address.clientTokenId });
    await this.revocations.apply();
  }
}
