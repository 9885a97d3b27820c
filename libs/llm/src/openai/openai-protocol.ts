import type { ModelRequest, ProviderSettings } from '@rondo/domain';
import { onePerModel } from '../one-per-model';
import type { ProviderError } from '../provider-error';
import { type ConversationRules, findRules, learnRules } from '../providers/conversation-rules';
import { toMaker } from '../providers/find-profile';
import { type ProviderProfile, listOmittedTools } from '../providers/provider-profile';
import { removeRefused } from '../providers/refused-parts';
import { type WireProtocol, type WireRequest, toNotes } from '../wire-protocol';
import { type ToTurns, createTurns } from './openai-messages';
import { EndingHabit, OpenAiReply } from './openai-reply';
import { toOpenAiRequest } from './openai-request';
import { type Lessons, rememberLesson, withLessons } from './refused-parameters';

/** What this process knows of one model of the provider. */
interface KnownModel {
  readonly maker: string;
  readonly habit: EndingHabit;
  profile: ProviderProfile & ConversationRules;
  toTurns: ToTurns;
  removeRefused: (request: ModelRequest) => ModelRequest;
  lessons: Lessons;
}

/** The Chat Completions API of OpenAI and of compatible servers. */
export class OpenAiProtocol implements WireProtocol {
  private readonly streams: boolean;
  private readonly known: (model: string) => KnownModel;

  constructor(provider: ProviderSettings) {
    this.streams = provider.streams ?? true;
    this.known = onePerModel((model) => {
      const profile = findRules(provider, model);
      const maker = toMaker(profile, model);
      const habit = new EndingHabit();
      const toTurns = createTurns({ maker, profile });
      return { maker, habit, profile, toTurns, removeRefused: removeRefused(profile), lessons: {} };
    });
  }

  request(request: ModelRequest): WireRequest {
    const { profile, toTurns, lessons, ...model } = this.known(request.model);
    const wanted = toOpenAiRequest(model.removeRefused(request), { streams: this.streams, profile, toTurns });
    const { params, omitted } = withLessons(wanted, lessons);
    return {
      path: '/chat/completions',
      params,
      unsettled: 0,
      notes: toNotes({
        effort: params.reasoning_effort,
        omittedTools: listOmittedTools(request.tools, profile),
        omittedParameters: omitted,
      }),
    };
  }

  /** Whether the request is worth another attempt, because it differs from now on from what was refused. */
  learn(request: ModelRequest, error: ProviderError): boolean {
    const model = this.known(request.model);
    const learned = learnRules(model.profile, request, error);
    if (learned) {
      model.profile = learned;
      model.toTurns = createTurns(model);
      model.removeRefused = removeRefused(learned);
      return true;
    }
    return rememberLesson(model, error, this.request(request).params);
  }

  reader({ model }: ModelRequest): OpenAiReply {
    const { habit, maker, profile } = this.known(model);
    return new OpenAiReply(habit, { maker, profile });
  }
}
