import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { KnownModels } from '../known-models';
import type { ProviderError } from '../provider-error';
import { type ConversationRules, findRules, learnRules } from '../providers/conversation-rules';
import { toMaker } from '../providers/find-profile';
import { type ProviderProfile, listOmittedTools } from '../providers/provider-profile';
import { removeRefused } from '../providers/refused-parts';
import { type WireProtocol, type WireRequest, toNotes } from '../wire-protocol';
import { thinksLong } from './openai-family';
import { type ToTurns, createTurns } from './openai-messages';
import { EndingHabit, OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';
import { type Lessons, learnFrom, withLessons } from './refused-parameters';

/** What is known of one model of the provider. How it ends its replies holds for all accounts. */
interface KnownModel {
  readonly maker: string;
  readonly habit: EndingHabit;
  readonly profile: ProviderProfile & ConversationRules;
  readonly toTurns: ToTurns;
  readonly removeRefused: (request: ModelRequest) => ModelRequest;
  readonly lessons: Lessons;
}

/** The Chat Completions API of OpenAI and of compatible servers. */
export class OpenAiProtocol implements WireProtocol {
  private readonly streams: boolean;
  private readonly known: KnownModels<KnownModel>;

  constructor(provider: ProviderSettings) {
    this.streams = provider.streams ?? true;
    this.known = new KnownModels((model) => {
      const profile = findRules(provider, model);
      const maker = toMaker(profile, model);
      return { maker, habit: new EndingHabit(), ...applyRules(profile, maker), lessons: {} };
    });
  }

  request(request: ModelRequest): WireRequest {
    const { profile, toTurns, lessons, ...model } = this.known.find(request);
    const wanted = toOpenAiRequest(model.removeRefused(request), { streams: this.streams, profile, toTurns });
    const { params, omitted } = withLessons(wanted, lessons);
    return {
      path: '/chat/completions',
      params,
      unsettled: 0,
      thinksLong: thinksLong(params.model, params.reasoning_effort),
      notes: toNotes({
        effort: params.reasoning_effort,
        omittedTools: listOmittedTools(request.tools, profile),
        omittedParameters: omitted,
      }),
    };
  }

  /** Whether the request is worth another attempt, because it differs from now on from what was refused. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known.find(request);
    const profile = learnRules(model.profile, request, error);
    const lessons = profile ? undefined : learnFrom(error, this.request(request).params, model.lessons);
    if (profile) this.known.keep(request, { ...model, ...applyRules(profile, model.maker) });
    if (lessons) this.known.keep(request, { ...model, lessons });
    return profile !== undefined || lessons !== undefined;
  }

  reader(request: ModelRequest): OpenAiReply {
    const { habit, maker, profile } = this.known.find(request);
    return new OpenAiReply(habit, { maker, profile });
  }
}

const applyRules = (profile: KnownModel['profile'], maker: string) => ({
  profile,
  toTurns: createTurns({ maker, profile }),
  removeRefused: removeRefused(profile),
});
