import { type CallerResult, type InputBlock, type Run, type RunId, toApprovalId, callId } from '@rondo/contract';
import type { AnthropicContentBlock, AnthropicUserEvent } from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { Caller, Runs, ThreadAddress } from '@rondo/persistence';
import { z } from 'zod';
import type { AuditedRuns } from '../../audit/audited-runs';
import { ApiError, refuseField } from '../../problems/api-error';
import type { RunService } from '../../runs/run-service';
import { decideAll } from '../facade-approvals';
import { readInput } from '../facade-input';
import { blockCountsKey, eventIds } from './anthropic.translate';
import { refuse } from './anthropic-errors';

type EventWithType<Type extends AnthropicUserEvent['type']> = Extract<AnthropicUserEvent, { type: Type }>;
type Message = EventWithType<'user.message'>;
type ServedEvent = Exclude<AnthropicUserEvent, { type: 'user.define_outcome' | 'user.tool_result' | 'system.message' }>;

interface SendDependencies {
  readonly runs: Pick<Runs, 'active' | 'approval'>;
  readonly service: Pick<RunService, 'answer' | 'answerCalls'>;
  readonly acts: AuditedRuns;
  /** Begins a run of the session with this input, or queues it, or tells it to the run at work, if there is one. */
  readonly begin: (turn: Turn, how: { readonly isTold: boolean }) => Promise<BegunTurn>;
}

/** Messages that are sent together. */
export interface Turn {
  readonly input: InputBlock[];
  readonly metadata: Record<string, string>;
}

export interface BegunTurn {
  /** The run that begins with it, unless another one reads it before. */
  readonly runId: RunId;
  /** Its messages are shown as one. */
  readonly isOneMessage: boolean;
}

/** Throws for what is not served, before anything is done. */
export function refuseUnservedEvents(events: readonly { readonly type: string }[]): asserts events is ServedEvent[] {
  for (const [index, event] of events.entries()) {
    if (!servedTypes.has(event.type)) throw refuse(`events.${index}.type`, event.type);
    if ('session_thread_id' in event && typeof event.session_thread_id === 'string')
      throw refuse(`events.${index}.session_thread_id`, 'an event of one thread');
  }
}
const servedTypes: ReadonlySet<string> = new Set([
  'user.message',
  'user.interrupt',
  'user.tool_confirmation',
  'user.custom_tool_result',
]);

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const imageBlock = z.object({
  type: z.literal('image'),
  source: z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
});

/** Throws with the name of a block that is not served. */
export function toInput(content: readonly AnthropicContentBlock[], field: string): InputBlock[] {
  for (const [index, block] of content.entries())
    if (!textBlock.safeParse(block).success && !imageBlock.safeParse(block).success)
      throw refuse(`${field}.${index}`, `a block of the type ${block.type}, other than text and base64 images,`);
  return readInput(field, content);
}

/** Several messages that are sent together are one turn, which is begun or not as a whole. */
export function toTurn(messages: readonly Pick<Message, 'content'>[]): Turn {
  const inputs = messages.map(({ content }, index) => toInput(content, `events.${index}.content`));
  return { input: inputs.flat(), metadata: { [blockCountsKey]: inputs.map(({ length }) => length).join(',') } };
}

/** Takes the events of a request: all of them are looked at before the first one is carried out. */
export async function sendEvents(
  dependencies: SendDependencies,
  thread: ThreadAddress,
  { events, caller }: { events: readonly AnthropicUserEvent[]; caller: Caller },
) {
  refuseUnservedEvents(events);
  const sending = new Sending(dependencies, thread, caller);
  await sending.check(events);
  await sending.carryOut(events);
  return { data: sending.echo(events) };
}

class Sending {
  private readonly messageIds: string[] = [];
  private active: Run | undefined;

  constructor(
    private readonly dependencies: SendDependencies,
    private readonly thread: ThreadAddress,
    private readonly caller: Caller,
  ) {}

  async check(events: readonly ServedEvent[]): Promise<void> {
    this.active = await this.dependencies.runs.active(this.thread);
    const awaited = new Set(this.active?.waiting?.tool_calls?.map(({ tool_call_id: id }) => String(id)));
    for (const [index, event] of events.entries()) {
      const field = `events.${index}`;
      if (event.type === 'user.tool_confirmation') this.checkConfirmation(event, field);
      if (event.type !== 'user.custom_tool_result') continue;
      if (!awaited.has(event.custom_tool_use_id))
        throw refuseField(
          `${field}.custom_tool_use_id`,
          `no custom tool waits for a result of ${event.custom_tool_use_id}`,
        );
      toResult(event, field);
    }
    toTurn(events.filter((event): event is Message => event.type === 'user.message'));
  }

  private checkConfirmation(event: EventWithType<'user.tool_confirmation'>, field: string): void {
    const { tool_use_id: id, result, deny_message: message } = event;
    if (message && result === 'allow') throw refuseField(`${field}.deny_message`, 'goes with the result deny only');
    const known = callId.safeParse(id);
    const isAwaited = this.active?.waiting?.approvals?.some(({ tool_call_id: awaited }) => awaited === id);
    if (!known.success || !isAwaited)
      throw refuseField(`${field}.tool_use_id`, `no call waits for a confirmation of ${id}`);
  }

  /** An interrupt goes before everything else; what is said with it begins a new turn. */
  async carryOut(events: readonly ServedEvent[]): Promise<void> {
    if (this.active && events.some(({ type }) => type === 'user.interrupt'))
      await this.dependencies.acts.stop(this.caller, this.active.id, 'interrupted by the user');
    await this.confirm(events.filter((event) => event.type === 'user.tool_confirmation'));
    const results = events.filter((event) => event.type === 'user.custom_tool_result');
    if (results.length > 0 && this.active) await this.answerCalls(this.active, results);
    const messages = events.filter((event): event is Message => event.type === 'user.message');
    if (messages.length > 0)
      await this.say(
        messages,
        events.some(({ type }) => type === 'user.interrupt'),
      );
  }

  private async confirm(events: readonly EventWithType<'user.tool_confirmation'>[]): Promise<void> {
    const decisions = events.map(({ tool_use_id: id, result, deny_message: reason }) => ({
      approvalId: toApprovalId(callId.parse(id)),
      decision: result === 'allow' ? ('approve' as const) : ('deny' as const),
      reason: reason ?? undefined,
    }));
    await translateSettled('there is an answer to one of these already', () =>
      decideAll(this.dependencies, this.caller, decisions),
    );
  }

  private async answerCalls(run: Run, events: readonly EventWithType<'user.custom_tool_result'>[]): Promise<void> {
    const answers = events.map((event) => ({
      callId: callId.parse(event.custom_tool_use_id),
      result: toResult(event, 'events'),
    }));
    await translateSettled('there is a result already', () =>
      this.dependencies.service.answerCalls({
        accountId: this.thread.accountId,
        runId: run.id,
        answers,
        answeredBy: this.caller.keyId,
      }),
    );
  }

  private async say(messages: readonly Message[], isInterrupted: boolean): Promise<void> {
    const { active } = this;
    const turn = toTurn(messages);
    const question = isInterrupted || active?.waiting?.reason !== 'ask' ? undefined : active.waiting.question;
    if (active && question) {
      await this.dependencies.service.answer({
        accountId: this.thread.accountId,
        runId: active.id,
        content: turn.input,
      });
      this.messageIds.push(...messages.map(() => eventIds.answer(question.tool_call_id)));
      return;
    }
    const isTold = active !== undefined && !isInterrupted;
    const { runId, isOneMessage } = await this.dependencies.begin(turn, { isTold });
    this.messageIds.push(...messages.map((_, index) => eventIds.input(runId, isOneMessage ? 0 : index)));
  }

  /** The events as the session has them, with the ids that its list and its stream have. */
  echo(events: readonly ServedEvent[]) {
    const ids = [...this.messageIds];
    return events.map((event) => {
      switch (event.type) {
        case 'user.message':
          return { ...event, id: ids.shift(), processed_at: null };
        case 'user.interrupt':
          return {
            type: event.type,
            id: eventIds.interrupt(this.active?.id ?? this.thread.threadId),
            processed_at: null,
          };
        case 'user.tool_confirmation':
          return { ...event, id: eventIds.confirmation(event.tool_use_id), processed_at: null };
        case 'user.custom_tool_result':
          return { ...event, id: eventIds.result(event.custom_tool_use_id), processed_at: null };
      }
    });
  }
}

function toResult(
  { content = [], is_error: isError }: EventWithType<'user.custom_tool_result'>,
  field: string,
): CallerResult {
  const said = content.filter((block) => block.type !== 'text' || block.text !== '');
  const blocks = said.length === 0 ? [] : toInput(said, `${field}.content`);
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const images = blocks.flatMap((block) => (block.type === 'image' ? [block.source] : []));
  if (images.length > 0) throw refuse(`${field}.content`, 'an image as the result of a custom tool');
  return isError ? { error: text === '' ? 'The tool failed.' : text } : { output: text };
}

/** What was answered in the meantime is an error of the request there, which is not repeated. */
async function translateSettled(detail: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TerminalError && taken.has(error.code)) throw new ApiError('malformed_request', detail);
    throw error;
  }
}
const taken: ReadonlySet<string> = new Set([
  'approval_not_open',
  'approval_not_found',
  'arguments_changed',
  'tool_call_answered',
  'tool_call_over',
  'tool_call_not_awaited',
]);
