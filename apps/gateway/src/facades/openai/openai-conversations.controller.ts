import { Controller } from '@nestjs/common';
import { openAi as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import { OpenAiConversations } from './openai-conversations';

/** Conversations of OpenAI's API. */
@Controller()
export class OpenAiConversationsController {
  constructor(private readonly conversations: OpenAiConversations) {}

  @Route(routes.createOpenAiConversation)
  createOpenAiConversation({ address, body }: RouteInput<typeof routes.createOpenAiConversation>) {
    return this.conversations.create(address.accountId, body);
  }

  @Route(routes.getOpenAiConversation)
  getOpenAiConversation({ address }: RouteInput<typeof routes.getOpenAiConversation>) {
    return this.conversations.get(address);
  }

  @Route(routes.deleteOpenAiConversation)
  deleteOpenAiConversation({ address }: RouteInput<typeof routes.deleteOpenAiConversation>) {
    return this.conversations.delete(address);
  }

  @Route(routes.listOpenAiItems)
  listOpenAiItems({ address, query }: RouteInput<typeof routes.listOpenAiItems>) {
    return this.conversations.list(address, query);
  }

  @Route(routes.createOpenAiItems)
  createOpenAiItems({ address, body }: RouteInput<typeof routes.createOpenAiItems>) {
    return this.conversations.add(address, body);
  }

  @Route(routes.getOpenAiItem)
  getOpenAiItem({ address }: RouteInput<typeof routes.getOpenAiItem>) {
    return this.conversations.find(address, address.itemId);
  }
}
