import type { ModelRequest } from '@rondo/domain';
import type { WireProtocol, WireRequest } from '../wire-protocol';
import { AnthropicReply } from './anthropic-reply';
import { toMaker, thinkingIn, toAnthropicRequest } from './anthropic-request';
import { markedTurns } from './cache-marks';

/** The Messages API of Anthropic and of compatible servers. */
export class AnthropicProtocol implements WireProtocol {
  request(request: ModelRequest): WireRequest {
    const thinking = thinkingIn(request);
    const { effort } = thinking;
    return {
      path: '/v1/messages',
      params: toAnthropicRequest(request, thinking),
      unsettled: markedTurns,
      ...(effort && { notes: { effort } }),
    };
  }

  reader({ model }: ModelRequest): AnthropicReply {
    return new AnthropicReply({ maker: toMaker(model), takesUnsigned: !/claude/i.test(model) });
  }
}
