import { Controller } from '@nestjs/common';
import { readUser } from '@rondo/contract';
import { threads as routes, toMetadataFilter } from '@rondo/contract/api';
import { Threads, Messages } from '@rondo/persistence';
import { narrowThread, ClientRequests } from '../auth/client-access';
import { AccountQuotas, measureContent } from '../billing/account-quotas';
import { Route, type RouteInput } from '../http/route';
import { toLlmMessages } from './llm-messages';

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
    const thread = { ...address, title, agentId, projectId, user: readUser(wanted), metadata, promised };
    return this.quotas.within(address.accountId, { threads: 1 }, (bounds) =>
      this.threads.create({ ...thread, bounds }),
    );
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

@Controller()
export class MessagesController {
  constructor(
    private readonly messages: Messages,
    private readonly quotas: AccountQuotas,
    private readonly clientRequests: ClientRequests,
  ) {}

  @Route(routes.createMessage)
  async createMessage({ address, body, caller, promised }: RouteInput<typeof routes.createMessage>) {
    const { content } = body;
    await this.clientRequests.requireContent(caller, body);
    return this.quotas.within(address.accountId, measureContent(content), (bounds) =>
      this.messages.add({ ...address, content, promised, bounds }),
    );
  }

  @Route(routes.listMessages)
  listMessages({ address, query }: RouteInput<typeof routes.listMessages>) {
    const { llm_only: llmOnly, ...filter } = query;
    return this.messages.list({ ...address, ...filter, llmOnly });
  }

  @Route(routes.listLlmMessages)
  async listLlmMessages({ address }: RouteInput<typeof routes.listLlmMessages>) {
    return toLlmMessages(await this.messages.forNextRun(address));
  }
}
