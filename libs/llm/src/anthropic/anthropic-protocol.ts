import { type ModelRequest, type ProviderSettings, splitModelName } from '@rondo/domain';
import { KnownModels } from '../known-models';
import type { ProviderError } from '../provider-error';
import { type ConversationRules, findRules, learnRules } from '../providers/conversation-rules';
import { removeRefused } from '../providers/refused-parts';
import { listAcceptedTools } from '../providers/refused-tools';
import { type WireProtocol, type WireRequest, toNotes } from '../wire-protocol';
import { type ToAnthropicTurns, createAnthropicTurns } from './anthropic-messages';
import { isAnthropicServer } from '../clients/anthropic-client';
import { AnthropicReply } from './anthropic-reply';
import { toMaker, thinkingIn, toAnthropicRequest } from './anthropic-request';
import { markedTurns } from './cache-marks';
import { type ClaudeFamily, claudeFamily, learnFamily } from './claude-family';

/** What is known of one model of the provider. */
interface KnownModel {
  readonly rules: ConversationRules;
  readonly toTurns: ToAnthropicTurns;
  readonly removeRefused: (request: ModelRequest) => ModelRequest;
  readonly family: ClaudeFamily;
}

/** The Messages API of Anthropic and of compatible servers. */
export class AnthropicProtocol implements WireProtocol {
  private readonly known: KnownModels<KnownModel>;

  constructor(private readonly provider: ProviderSettings) {
    this.known = new KnownModels((model) => {
      const { efforts: _, ...rules } = findRules(provider, model); // which are those of another API
      return { ...create(model, rules), family: claudeFamily(splitModelName(model).id) };
    });
  }

  request(asked: ModelRequest): WireRequest {
    const { removeRefused, ...sending } = this.known.find(asked);
    const { rules, family } = sending;
    const tools = listAcceptedTools(asked.tools, rules);
    const request = this.asServed(removeRefused({ ...asked, tools }));
    const thinking = thinkingIn(request, { family, rules });
    const omitted = asked.tools.filter((tool) => !tools.includes(tool));
    return {
      path: '/v1/messages',
      params: toAnthropicRequest(request, sending, thinking),
      unsettled: markedTurns,
      notes: toNotes({
        effort: thinking.effort,
        omittedTools: omitted.map(({ name }) => name),
        omittedParameters: [],
      }),
    };
  }

  /** Other servers of Claude may refuse to keep a prompt for an hour. */
  private asServed({ waitsLong = false, ...request }: ModelRequest): ModelRequest {
    return { ...request, waitsLong: waitsLong && isAnthropicServer(this.provider) };
  }

  /** Whether the request is worth another attempt, because it differs from now on from what was refused. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known.find(request);
    const family =
      error.code === 'invalid_request' || error.code === 'model_not_supported'
        ? learnFamily(model.family, error.message)
        : undefined;
    const rules = family ? undefined : learnRules(model.rules, request, error);
    if (family) this.known.keep(request, { ...model, family });
    if (rules) this.known.keep(request, { ...model, ...create(request.model, rules) });
    return family !== undefined || rules !== undefined;
  }

  reader({ model }: ModelRequest): AnthropicReply {
    return new AnthropicReply({ maker: toMaker(model), takesUnsigned: !/claude/i.test(model) });
  }
}

const create = (model: string, rules: ConversationRules): Omit<KnownModel, 'family'> => ({
  rules,
  toTurns: createAnthropicTurns({ maker: toMaker(model), rules }),
  removeRefused: removeRefused(rules),
});
