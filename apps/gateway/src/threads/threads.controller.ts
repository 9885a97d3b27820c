import { Controller } from '@nestjs/common';
import { readUser } from '@rondo/contract';
import { threads as routes } from '@rondo/contract/api';
import { Threads } from '@rondo/persistence';
import { narrowThread } from '../auth/client-access';
import { AccountQuotas } from '../billing/account-quotas';
import { toMetadataFilter } from '../http/metadata';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class ThreadsController {
  constructor(
    private readonly threads: Threads,
    private readonly quotas: AccountQuotas,
  ) {}

  @Route(routes.createThread)
  async createThread({ address, body, caller, promised }: RouteInput<typeof routes.createThread>) {
    const wanted = narrowThread(caller, body);
    const { title, agent_id: agentId, project_id: projectId, metadata } = wanted;
    await this.quotas.add(address.accountId, { threads: 1 });
    return this.threads.create({ ...address, title, agentId, projectId, user: readUser(wanted), metadata, promised });
  }

  @Route(routes.listThreads)
  listThreads({ address, query, caller }: RouteInput<typeof routes.listThreads>) {
    const { limit, after, project_id: projectId, user, q: words, ...filter } = query;
    const within = caller.client?.audience;
    return this.threads.list({
      ...address,
      within,
      projectId,
      user,
      words,
      limit,
      after,
      metadata: toMetadataFilter(filter),
    });
  }

  @Route(routes.getThread)
  getThread({ address }: RouteInput<typeof routes.getThread>) {
    return this.threads.get(address);
  }

  @Route(routes.updateThread)
  updateThread({ address, body }: RouteInput<typeof routes.updateThread>) {
    const { title, is_public: isPublic, metadata } = body;
    return this.threads.update({ ...address, title, isPublic, metadata });
  }

  @Route(routes.deleteThread)
  deleteThread({ address }: RouteInput<typeof routes.deleteThread>) {
    return this.threads.delete(address);
  }
}
