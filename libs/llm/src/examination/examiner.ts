import { type CallId, type RunError, callId } from '@rondo/contract';
import {
  type AssistantBlock,
  type CallNotes,
  type Model,
  type ModelMessage,
  type ModelRequest,
  type ProfileRules,
  type ProviderSettings,
  type ToolDefinition,
  dialectNamed,
} from '@rondo/domain';
import { type ProxySettings, createFetch } from '../http/lean-fetch';
import { createModel } from '../models';
import { type ProviderError, refusal } from '../provider-error';
import { type ConversationRules, type LearnedRule, findRules, readLearnedRule } from '../providers/conversation-rules';
import type { ProviderProfile } from '../providers/provider-profile';
import { ObservedCalls, type ReplyTraits, readTraits } from './observed-calls';

/** What one probe has found out. */
export interface ModelFinding {
  readonly name: string;
  /**
   * `works`: as most servers do it. `adapted`: it works because requests are made as this server wants them. `lacks`: the server
   * does not have it, and runs go without. `broken`: runs fail. `unknown`: it was not found out.
   */
  readonly status: 'works' | 'adapted' | 'lacks' | 'broken' | 'unknown';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** The answer to one question, with everything that was sent for it. */
export interface Answer {
  /** The turn of the assistant, as it goes back in the next request. */
  readonly turn: Extract<ModelMessage, { role: 'assistant' }>;
  readonly text: string;
  readonly calls: readonly Extract<AssistantBlock, { type: 'tool_call' }>[];
  /** The model printed a call into its text. */
  readonly hasPrintedCall: boolean;
  readonly notes: CallNotes;
  /** Absent: the provider accepted the request, and the reply is whole or as long as it may be. */
  readonly error?: RunError;
  /** What the provider refused on the way, also where another attempt was accepted. */
  readonly refusals: readonly ProviderError[];
  /** What the service learned from these refusals. */
  readonly learned: readonly LearnedRule[];
  /** The parameters that were sent last. */
  readonly sent: Readonly<Record<string, unknown>>;
  readonly traits: ReplyTraits;
}

/** Ends an examination: its calls are spent, it was interrupted, or the provider answers nothing any more. */
export class ExaminationEnded extends Error {
  override readonly name = 'ExaminationEnded';

  constructor(readonly error: RunError | undefined) {
    super(error?.message ?? 'The examination has ended.');
  }
}

/** Failures of which another question would be answered in the same way. */
const lasting: ReadonlySet<RunError['code']> = new Set([
  ...(['authentication', 'budget_exceeded', 'rate_limit', 'connection_error'] as const),
  ...(['timeout', 'service_unavailable', 'not_found'] as const),
]);

export interface ExaminerParts {
  readonly provider: ProviderSettings;
  /** The model without its provider. */
  readonly id: string;
  readonly proxies?: ProxySettings | undefined;
  readonly signal: AbortSignal;
  readonly mostCalls: number;
  /** How often a question is asked whose failure may pass. */
  readonly attempts: number;
  /** Called with what is being found out, and the calls so far. */
  readonly onProgress: (about: string, calls: number) => void;
}

const policy = { rateLimitDelayMs: 5_000, maxDelayMs: 65_000 };
const timeouts = { firstOutputTimeoutMs: 120_000, idleTimeoutMs: 60_000 };

/**
 * Asks a model through the same requests, retries and readers as a run does. The rules of its provider can be changed between two
 * questions.
 */
export class Examiner {
  readonly calls: ObservedCalls;
  readonly usage = { input: 0, output: 0, costUsd: 0, isPriced: true };
  /** The rules that differ from those of the profile that the service would find. */
  changed: ProfileRules = {};
  private about = '';
  private model: Model;

  constructor(private readonly parts: ExaminerParts) {
    this.calls = new ObservedCalls(createFetch(parts.proxies), parts.mostCalls);
    this.model = this.createModel({});
  }

  get name(): string {
    return `${this.parts.provider.name}/${this.parts.id}`;
  }

  get id(): string {
    return this.parts.id;
  }

  get provider(): ProviderSettings {
    return this.parts.provider;
  }

  /** Only servers with the API of OpenAI have all rules of profiles; others differ in PDFs and in words. */
  get hasProfile(): boolean {
    const { kind } = this.parts.provider;
    return kind === 'openai' || kind === 'azure';
  }

  /** The profile as it is now, with what was changed. */
  get profile(): ProviderProfile & ConversationRules {
    return { ...findRules(this.parts.provider, this.name), ...this.changed };
  }

  /** What the next questions are about. */
  begin(about: string): void {
    this.about = about;
    this.parts.onProgress(about, this.calls.all.length);
  }

  change(rules: ProfileRules): void {
    this.changed = { ...this.changed, ...rules };
    this.model = this.createModel(this.changed);
  }

  /** Asks again under each of these rules until the answer is as it should be; if it never is, all is as it was before. */
  async findRules(
    candidates: readonly ProfileRules[],
    attempt: () => Promise<Answer>,
  ): Promise<{ readonly rules: ProfileRules; readonly answer: Answer } | undefined> {
    const before = this.changed;
    for (const rules of this.hasProfile ? candidates : []) {
      this.changed = before;
      this.change(rules);
      const answer = await attempt();
      if (!answer.error) return { rules, answer };
    }
    this.changed = before;
    this.model = this.createModel(before);
    return undefined;
  }

  /** Asks under rules that hold for this question alone, of a model that has learned nothing. */
  askUnder(rules: ProfileRules, question: Question): Promise<Answer> {
    return this.askModel(this.createModel({ ...this.changed, ...rules }), question);
  }

  /** Rejects with `ExaminationEnded` where no further question can be answered. */
  ask(question: Question): Promise<Answer> {
    return this.askModel(this.model, question);
  }

  private isInterrupted(): boolean {
    return this.parts.signal.aborted;
  }

  private createModel(rules: ProfileRules): Model {
    const { provider, attempts } = this.parts;
    const { like } = provider.profile ?? {};
    const profile = { ...(like !== undefined && { like }), rules: { ...provider.profile?.rules, ...rules } };
    return createModel({ ...provider, profile }, { retries: { ...policy, attempts }, timeouts }, this.calls.fetch);
  }

  private async askModel(model: Model, { tools = [], settings = {}, ...question }: Question): Promise<Answer> {
    if (this.isInterrupted() || this.calls.isSpent) throw new ExaminationEnded(undefined);
    const first = this.calls.all.length;
    this.parts.onProgress(this.about, first + 1);
    const offered = native.offer(tools, noSettings).tools;
    const request = { model: this.name, system: instructions, tools: offered, settings, ...question };
    const { decoded, notes, error } = await this.readReply(model, request, tools);
    const sent = this.calls.all.slice(first);
    const refusals = sent
      .filter(({ status = 0 }) => status >= 400)
      .map(({ status, reply }) => refusal({ status, detail: reply }));
    const wasCut = this.calls.wasExceeded && error?.code === 'connection_error';
    if (this.isInterrupted() || wasCut) throw new ExaminationEnded(undefined);
    if (error && lasting.has(error.code)) throw new ExaminationEnded(error);
    const last = sent.at(-1) ?? { request: {}, status: undefined, reply: '' };
    return {
      ...decoded,
      notes,
      ...(error && { error }),
      refusals,
      learned: this.learn(refusals),
      sent: last.request,
      traits: readTraits(last),
    };
  }

  /** What this process learned would be learned again by every other: it becomes a rule. */
  private learn(refusals: readonly ProviderError[]): LearnedRule[] {
    if (!this.hasProfile) return [];
    const learned = refusals.flatMap(({ message }) => readLearnedRule(message) ?? []);
    const fresh = [...new Set(learned)].filter((rule) => this.profile[rule] !== true);
    for (const rule of fresh) this.change({ [rule]: true });
    return fresh;
  }

  private async readReply(model: Model, request: ModelRequest, tools: readonly ToolDefinition[]) {
    const decoder = native.decoder(tools, noSettings);
    let notes: CallNotes = {};
    let error: RunError | undefined;
    for await (const chunks of model.stream(request, this.parts.signal))
      for (const chunk of chunks) {
        if (chunk.type === 'retried') this.parts.onProgress(waiting(chunk.delayMs), this.calls.all.length);
        else if (chunk.type !== 'end') decoder.push(chunk);
        else {
          notes = chunk.notes ?? {};
          error = 'error' in chunk ? chunk.error : undefined;
          this.count(chunk.usage);
        }
      }
    const { content, calls, verdict } = decoder.end();
    return { decoded: toAnswer(content, calls, verdict?.decision === 'malformed'), notes, error };
  }

  private count(usage: { input_tokens: number; output_tokens: number; cost_usd: number | null } | undefined): void {
    if (!usage) return;
    this.usage.input += usage.input_tokens;
    this.usage.output += usage.output_tokens;
    this.usage.costUsd += usage.cost_usd ?? 0;
    if (usage.cost_usd === null) this.usage.isPriced = false;
  }
}

const waiting = (delayMs: number): string => `waits ${Math.ceil(delayMs / 1_000)} s before another attempt`;

/** What is asked; the rest of the request is the same for all questions. */
export type Question = Pick<ModelRequest, 'messages'> &
  Partial<Pick<ModelRequest, 'settings'>> & { readonly tools?: readonly ToolDefinition[] };

const instructions = 'You are being tested. Do exactly what is asked, in as few words as possible.';

const native = dialectNamed('native');
/** The settings of dialects that are written as text, of which the native one has none. */
const noSettings = { xml_adding_strategy: 'user_message', include_xml_examples: false, max_tool_calls: 0 } as const;

type Decoded = ReturnType<ReturnType<typeof native.decoder>['end']>;

let callNumber = 0;
const createCallId = (): CallId => callId.parse(`call_examination${(callNumber += 1)}`);

function toAnswer(content: Decoded['content'], decodedCalls: Decoded['calls'], hasPrintedCall: boolean) {
  const calls = decodedCalls.map(({ name, arguments: given, opaque }) => ({
    type: 'tool_call' as const,
    id: createCallId(),
    name,
    arguments: given,
    ...(opaque && { opaque }),
  }));
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
  return { turn: { role: 'assistant' as const, content: [...content, ...calls] }, text, calls, hasPrintedCall };
}
