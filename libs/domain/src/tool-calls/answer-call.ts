import {
  type NewFact,
  type NewMessage,
  type PlanProgress,
  type RecordedResult,
  type ToolCall,
  boundedResult,
  boundedText,
} from '@rondo/contract';
import { unknownResult } from '../run/ledger';
import { messageUser } from '../tools/conversation.tools';
import { browserStateFacts } from './browser-state';
import type { AnswerContext, CallOutcome } from './call-outcome';

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
  const shown = outcome.browser ? browserStateFacts(context, call, outcome.browser) : [];
  return [{ type: result.success ? 'tool.completed' : 'tool.failed', iteration, data }, ...created, ...shown];
}

function resultMessage(context: AnswerContext, call: ToolCall, outcome: CallOutcome): NewMessage {
  const given = 'unknown' in outcome ? unknownResult(outcome.unknown) : outcome.result;
  const isEdited = context.state.calls.get(call.id)?.approval?.outcome === 'edit';
  const result = isEdited ? withEdit(given, call) : given;
  const shown = call.program ? { ...result, output: boundedText(result.output, shownOfProgram) } : result;
  const problem = 'problem' in outcome ? { problem: outcome.problem } : {};
  return {
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration: context.state.iteration,
    type: 'tool',
    is_llm_message: call.program === undefined, // else its program reads it
    content: [{ type: 'tool_result', tool_call_id: call.id, name: call.name, result: shown }],
    metadata: {
      assistant_message_id: call.message_id,
      ...(call.program && { program_call_id: call.program.call_id }),
      ...problem,
    },
  };
}

const shownArguments = 4_000;
/** Of the output of a call of a program: all of it is in the fact, and this message is only for people. */
const shownOfProgram = 1_000;

/** The model wrote other arguments than those that the call ran with, and must not be misled. */
function withEdit(result: RecordedResult, { arguments: edited }: ToolCall): RecordedResult {
  const shown = boundedText(JSON.stringify(edited), shownArguments);
  const note = `A person changed the arguments of this call before it ran, to ${shown}`;
  const { output, error } = result;
  return boundedResult({
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

function saidBy({ name, arguments: given }: ToolCall, outcome: CallOutcome): Shown[] {
  const said = name === messageUser.name ? messageUser.input.safeParse(given).data : undefined;
  const succeeded = 'result' in outcome && outcome.result.success;
  return said && succeeded ? [status(said.text, { kind: 'message_to_user' })] : [];
}

function planIn(outcome: CallOutcome): Shown[] {
  const plan: PlanProgress | undefined = 'plan' in outcome ? outcome.plan : undefined;
  if (!plan) return [];
  return [status(`Plan: ${plan.done} of ${plan.total} done.`, { kind: 'plan_updated', ...plan })];
}

function imageIn({ arguments: given }: ToolCall, outcome: CallOutcome): Shown[] {
  const image = 'result' in outcome ? outcome.result.image : undefined;
  if (!image) return [];
  const path = given['file_path'];
  return [
    {
      type: 'image_context',
      content: [{ type: 'image', source: { type: 'blob', ...image } }],
      metadata: typeof path === 'string' ? { file_path: path } : {},
    },
  ];
}
