import { Controller } from '@nestjs/common';
import { readUser } from '@rondo/contract';
import { threads as routes } from '@rondo/contract/api';
import { Messages, Threads } from '@rondo/persistence';
import { AccountQuotas } from '../billing/account-quotas';
import { toMetadataFilter } from '../http/metadata';
import { Route, type RouteInput } from '../http/route';
import { toLlmMessages } from './llm-messages';

@Controller()
export class ThreadsController {
  constructor(
    private readonly threads: Threads,
    private readonly messages: Messages,
    private readonly quotas: AccountQuotas,
  ) {}

  @Route(routes.createThread)
  async createThread({ address, body, promised }: RouteInput<typeof routes.createThread>) {
    const { title, agent_id: agentId, project_id: projectId, metadata } = body;
    await this.quotas.add(address.accountId, { threads: 1 });
    return this.threads.create({ ...address, title, agentId, projectId, user: readUser(body), metadata, promised });
  }

  @Route(routes.listThreads)
  listThreads({ address, query }: RouteInput<typeof routes.listThreads>) {
    const { limit, after, project_id: projectId, user, q: words, ...filter } = query;
    return this.threads.list({ ...address, projectId, user, words, limit, after, metadata: toMetadataFilter(filter) });
  }

  @Route(routes.getThread)
  getThread({ address }: RouteInput<typeof routes.getThread>) {
    return this.threads.get(address);
  }

  @Route(routes.updateThread)
  updateThread({ address, body }: RouteInput<typeof routes.updateThread>) {
    return this.threads.update({ ...address, title: body.title, isPublic: body.is_public });
  }

  @Route(routes.deleteThread)
  deleteThread({ address }: RouteInput<typeof routes.deleteThread>) {
    return this.threads.delete(address);
  }

  @Route(routes.createMessage)
  async createMessage({ address, body, promised }: RouteInput<typeof routes.createMessage>) {
    const { content } = body;
    const hasImages = content.some(({ type }) => type === 'image');
    await this.quotas.add(address.accountId, { message_bytes: 0, ...(hasImages && { image_bytes: 0 }) });
    return this.messages.add({ ...address, content, promised });
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
