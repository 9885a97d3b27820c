import { Controller } from '@nestjs/common';
import { threads as routes } from '@rondo/contract/api';
import { Messages } from '@rondo/persistence';
import { ClientRequests } from '../auth/client-access';
import { AccountQuotas } from '../billing/account-quotas';
import { Route, type RouteInput } from '../http/route';
import { toLlmMessages } from './llm-messages';

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
