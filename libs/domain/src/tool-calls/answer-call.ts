import {
  type NewFact,
  type NewMessage,
  type PlanProgress,
  type RecordedResult,
  type ToolCall,
  boundResult,
  boundText,
  type BrowserState,
} from '@rondo/contract';
import { unknownResult } from '../run/ledger';
import { messageUser } from '../tools/conversation.tools';
import type { AgentRun } from '../loop-context';
import type { AgentPorts } from '../ports';
import type { RunState } from '../run/run-state';

/** How a call ended: with a result, or with an unknown outcome. */
export type CallOutcome =
  | {
      readonly result: RecordedResult;
      readonly durationMs: number;
      readonly problem?: CallProblem;
      /** The plan in todo.md, where the call may have changed it. */
      readonly plan?: PlanProgress;
      /** What the browser of the thread showed afterwards. */
      readonly browser?: BrowserState | undefined;
      /** The id of the API key with which its caller answered it. */
      readonly answeredBy?: string;
      /** What the model is offered from its next turn on. */
      readonly loadedTools?: readonly string[] | undefined;
    }
  | { readonly unknown: string };

/** Why a call was answered without being run. */
export type CallProblem = 'malformed' | 'inexact' | 'unknown_tool' | 'surplus';

/** What an answer needs to know of its run. The loop, the end of a run and a person's resolution answer calls. */
export interface AnswerContext {
  readonly run: Pick<AgentRun, 'id' | 'threadId'>;
  readonly state: Pick<RunState, 'iteration' | 'calls'>;
  readonly ports: { readonly ids: Pick<AgentPorts['ids'], 'messageId'> };
}

/**
 * The facts that answer a call: its end in the ledger, and the result message for the model. That of a call of a program is for
 * people.
 */
export function answerCall(context: AnswerContext, call: ToolCall, outcome: CallOutcome): NewFact[] {
  const iteration = context.state.iteration;
  const message = resultMessage(context, call, outcome);
  const { id: tool_call_id, name } = call;
  const message_id = message.id;
  const created = [message, ...stateMessages(context, call, outcome)].map((one): NewFact => ({
    type: 'message.created',
    iteration,
    data: { message: one },
  }));

  if ('unknown' in outcome)
    return [
      { type: 'tool.unknown', iteration, data: { tool_call_id, name, message_id, reason: outcome.unknown } },
      ...created,
    ];

  const { result, durationMs } = outcome;
  const { answeredBy: answered_by, loadedTools = [] } = outcome;
  const data = {
    ...{ tool_call_id, name, message_id, result, duration_ms: durationMs },
    ...(answered_by !== undefined && { answered_by }),
    ...(loadedTools.length > 0 && { loaded_tools: [...loadedTools] }),
  };
  const stateFacts = outcome.browser ? browserStateFacts(context, call, outcome.browser) : [];
  return [{ type: result.success ? 'tool.completed' : 'tool.failed', iteration, data }, ...created, ...stateFacts];
}

function resultMessage(context: AnswerContext, call: ToolCall, outcome: CallOutcome): NewMessage {
  const original = 'unknown' in outcome ? unknownResult(outcome.unknown) : outcome.result;
  const isEdited = context.state.calls.get(call.id)?.approval?.outcome === 'edit';
  const result = isEdited ? withEdit(original, call) : original;
  const shownResult = call.program ? { ...result, output: boundText(result.output, shownOfProgram) } : result;
  const problem = 'problem' in outcome ? { problem: outcome.problem } : {};
  return {
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration: context.state.iteration,
    type: 'tool',
    is_llm_message: call.program === undefined, // else its program reads it
    content: [{ type: 'tool_result', tool_call_id: call.id, name: call.name, result: shownResult }],
    metadata: {
      assistant_message_id: call.message_id,
      ...(call.program && { program_call_id: call.program.call_id }),
      ...problem,
    },
  };
}

const shownArguments = 4_000;
/** How much of the output of a program's call its message has, in characters. It is for people, and all of it is in the fact. */
const shownOfProgram = 1_000;

/** The model wrote other arguments than those that the call ran with, and must not be misled. */
function withEdit(result: RecordedResult, { arguments: edited }: ToolCall): RecordedResult {
  const text = boundText(JSON.stringify(edited), shownArguments);
  const note = `A person changed the arguments of this call before it ran, to ${text}`;
  const { output, error } = result;
  return boundResult({
    ...result,
    output: `${note}\n${output}`,
    ...(error !== undefined && { error: `${note}\n${error}` }),
  });
}

type Shown = Pick<NewMessage, 'type' | 'content' | 'metadata'>;

const status = (text: string, metadata: Shown['metadata']): Shown => ({
  type: 'status',
  content: [{ type: 'text', text }],
  metadata,
});

/**
 * What a call shows to people: what it says to the user, the progress of the plan, and an image. A model is sent none of
 * these messages: it gets the image with the result.
 */
const stateMessages = (context: AnswerContext, call: ToolCall, outcome: CallOutcome): NewMessage[] =>
  [...saidBy(call, outcome), ...planIn(outcome), ...imageIn(call, outcome)].map(({ type, content, metadata }) => ({
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration: context.state.iteration,
    type,
    is_llm_message: false,
    content,
    metadata: { ...metadata, tool_call_id: call.id },
  }));

function saidBy({ name, arguments: input }: ToolCall, outcome: CallOutcome): Shown[] {
  const message = name === messageUser.name ? messageUser.input.safeParse(input).data : undefined;
  const succeeded = 'result' in outcome && outcome.result.success;
  return message && succeeded ? [status(message.text, { kind: 'message_to_user' })] : [];
}

function planIn(outcome: CallOutcome): Shown[] {
  const plan: PlanProgress | undefined = 'plan' in outcome ? outcome.plan : undefined;
  if (!plan) return [];
  return [status(`Plan: ${plan.done} of ${plan.total} done.`, { kind: 'plan_updated', ...plan })];
}

function imageIn({ arguments: input }: ToolCall, outcome: CallOutcome): Shown[] {
  const image = 'result' in outcome ? outcome.result.image : undefined;
  if (!image) return [];
  const path = input['file_path'];
  return [
    {
      type: 'image_context',
      content: [{ type: 'image', source: { type: 'blob', ...image } }],
      metadata: typeof path === 'string' ? { file_path: path } : {},
    },
  ];
}

/**
 * The state message of the browser, which the next call of the model is shown once, and the event that announces it. The text
 * for the model leaves out the elements: the result of the call has them, and the metadata of the message too.
 */
function browserStateFacts(context: AnswerContext, call: ToolCall, state: BrowserState): NewFact[] {
  const { iteration } = context.state;
  const { url, title, screenshot } = state;
  const shown: NewMessage['content'] = screenshot ? [{ type: 'image', source: { type: 'blob', ...screenshot } }] : [];
  const message: NewMessage = {
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration,
    type: 'browser_state',
    is_llm_message: false,
    content: [{ type: 'text', text: toSummary(state) }, ...shown],
    metadata: { tool_call_id: call.id, browser: state },
  };
  const about = { message_id: message.id, tool_call_id: call.id, url, title, ...(screenshot && { screenshot }) };
  return [
    { type: 'message.created', iteration, data: { message } },
    { type: 'browser.state', iteration, data: about },
  ];
}

function toSummary({ url, title, pixels_above, pixels_below, tabs }: BrowserState): string {
  const others = tabs
    .filter(({ is_active }) => !is_active)
    .map((tab) => `Other tab ${tab.page_id}: ${tab.title} ${tab.url}`);
  return [
    `URL: ${url}`,
    `Title: ${title}`,
    `Pixels above the screen: ${pixels_above}, below it: ${pixels_below}`,
    ...others,
  ].join('\n');
}
