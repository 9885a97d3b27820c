import { type MessageId, type NewFact, type ToolCall, callIdAt, failedResult } from '@rondo/contract';
import type { DecodedCall } from '../dialects/dialect';
import type { LoopContext } from '../loop/loop-context';
import { toEffect } from '../tools/define-tool';
import { fitArguments } from '../tools/fit-arguments';
import { toolSearch } from '../tools/search.tools';
import { callableTools, notShown, shownTools } from '../tools/tool-search';
import { answerCall } from './answer-call';
import type { CallProblem } from './call-outcome';

/**
 * Enters the calls of a reply into the ledger. A call that cannot run (malformed, of an unknown tool, or over the limit)
 * is answered at once, so that it is never open. The ledger has the arguments that the call runs with; the message has
 * them as the model wrote them. Malformed arguments are not guessed at.
 */
export function planCalls(loop: LoopContext, reply: CallsOfReply): NewFact[] {
  return reply.calls.flatMap((decoded) => {
    const call = ledgerRow(loop, reply, decoded);
    const loaded_tools = notShown(loop.run.tools, loop.state.loadedTools, [decoded.name]);
    const data = { tool_call: call, ...(loaded_tools.length > 0 && { loaded_tools }) };
    const planned: NewFact = { type: 'tool.planned', iteration: loop.state.iteration, data };
    const refusal = findRefusal(loop, decoded);
    return refusal ? [planned, ...answerCall(loop, call, { ...refusal, durationMs: 0 })] : [planned];
  });
}

interface CallsOfReply {
  readonly calls: readonly DecodedCall[];
  readonly replyId: MessageId;
  /** The part of the reply that holds them. */
  readonly messageId: MessageId;
}

const ledgerRow = (
  { run, state, ports }: LoopContext,
  { replyId, messageId }: CallsOfReply,
  decoded: DecodedCall,
): ToolCall => {
  const tool = run.tools.named(decoded.name);
  const fitted = tool && !decoded.malformed ? fitArguments(tool, decoded.arguments) : undefined;
  const args = fitted?.arguments ?? decoded.arguments;
  return {
    id: callIdAt(replyId, decoded.index),
    run_id: run.id,
    iteration: state.iteration,
    index: decoded.index,
    name: decoded.name,
    arguments: args,
    ...(fitted && fitted.changes.length > 0 && { adjusted: [...fitted.changes] }),
    dialect: run.settings.processor.dialect,
    effect_class: toEffect(tool, args, ports.honoursKeys),
    status: 'planned',
    result: null,
    attempt: 0,
    message_id: messageId,
    started_at: null,
    finished_at: null,
  };
};

function findRefusal({ run: { settings, tools }, state }: LoopContext, call: DecodedCall) {
  const refuse = (problem: CallProblem, reason: string) => ({ problem, result: failedResult(reason) });
  const { max_tool_calls, execute_tools } = settings.processor;

  if (!execute_tools) return refuse('surplus', 'This call was not executed: this run does not execute tools.');
  if (max_tool_calls > 0 && call.index >= max_tool_calls) {
    return refuse(
      'surplus',
      `This call was not executed: at most ${max_tool_calls} tool calls per turn. Call it again if you need it.`,
    );
  }
  if (call.malformed) return refuse('malformed', `${call.malformed.reason} Send the call again.`);
  if (!callableTools(tools).some(({ name }) => name === call.name)) {
    const shown = shownTools(tools, state.loadedTools).map(({ name }) => name);
    const hint = tools.search ? ` ${toolSearch.name} finds others.` : '';
    return refuse('unknown_tool', `There is no tool named "${call.name}". Tools: ${shown.join(', ')}.${hint}`);
  }
  return undefined;
}
