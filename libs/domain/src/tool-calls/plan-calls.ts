import { type MessageId, type NewFact, type ToolCall, callIdAt, toFailedResult } from '@rondo/contract';
import type { DecodedCall } from '../dialects/dialect';
import type { LoopContext } from '../loop-context';
import { toEffect } from '../tools/define-tool';
import { fitArguments } from '../tools/fit-arguments';
import { runProgram } from '../tools/program.tools';
import { toolSearch } from '../tools/memory.tools';
import { callableTools, notShown, listShownTools } from '../tools/tool-search';
import { answerCall, type CallProblem } from './answer-call';

/**
 * Enters the calls of a reply into the ledger. A call that cannot run (malformed, of an unknown tool, or over the limit)
 * is answered at once, so that it is never open. The ledger has the arguments that the call runs with; the message has
 * them as the model wrote them. Malformed arguments are not guessed at.
 */
export function planCalls(loop: LoopContext, reply: CallsOfReply): NewFact[] {
  return reply.calls.flatMap((decoded) => {
    const { index } = decoded;
    const call = ledgerRow(loop, decoded, { id: callIdAt(reply.replyId, index), index, message_id: reply.messageId });
    const loaded_tools = notShown(loop.run.tools, loop.state.loadedTools, [decoded.name]);
    const data = { tool_call: call, ...(loaded_tools.length > 0 && { loaded_tools }) };
    const planned: NewFact = { type: 'tool.planned', iteration: loop.state.iteration, data };
    const refusal = findRefusal(loop, decoded);
    return refusal ? [planned, ...answerCall(loop, call, { ...refusal, durationMs: 0 })] : [planned];
  });
}

/** The same for a call that a program makes. */
export function planCall(loop: LoopContext, decoded: Called, place: Place): NewFact[] {
  const call = ledgerRow(loop, decoded, place);
  const planned: NewFact = { type: 'tool.planned', iteration: loop.state.iteration, data: { tool_call: call } };
  const { programs = [] } = loop.run.tools;
  if (programs.some(({ name }) => name === decoded.name)) return [planned];
  const names = programs.map(({ name }) => name).join(', ');
  const result = toFailedResult(`A program cannot call a tool named "${decoded.name}". Tools: ${names}.`);
  return [planned, ...answerCall(loop, call, { result, problem: 'unknown_tool', durationMs: 0 })];
}

type Called = Pick<DecodedCall, 'name' | 'arguments' | 'malformed'>;
type Place = Pick<ToolCall, 'id' | 'index' | 'message_id' | 'program'>;

interface CallsOfReply {
  readonly calls: readonly DecodedCall[];
  readonly replyId: MessageId;
  /** The part of the reply that holds them. */
  readonly messageId: MessageId;
}

function ledgerRow({ run, state, ports }: LoopContext, decoded: Called, place: Place): ToolCall {
  const tool = run.tools.named(decoded.name);
  const fitted = tool && !decoded.malformed && !place.program ? fitArguments(tool, decoded.arguments) : undefined;
  const args = fitted?.arguments ?? decoded.arguments;
  return {
    ...place,
    run_id: run.id,
    iteration: state.iteration,
    name: decoded.name,
    arguments: args,
    ...(fitted && fitted.changes.length > 0 && { adjusted: [...fitted.changes] }),
    dialect: run.settings.processor.dialect,
    effect_class: toEffect(tool, args, ports.honoursKeys),
    status: 'planned',
    result: null,
    attempt: 0,
    started_at: null,
    finished_at: null,
  };
}

function findRefusal({ run: { settings, tools }, state }: LoopContext, call: DecodedCall) {
  const refuse = (problem: CallProblem, reason: string) => ({ problem, result: toFailedResult(reason) });
  const { max_tool_calls, execute_tools } = settings.processor;

  if (!execute_tools) return refuse('surplus', 'This call was not executed: this run does not execute tools.');
  if (max_tool_calls > 0 && call.index >= max_tool_calls) {
    return refuse(
      'surplus',
      `This call was not executed: at most ${max_tool_calls} tool calls per turn. Call it again if you need it.`,
    );
  }
  if (call.malformed)
    return refuse(call.malformed.isInexact ? 'inexact' : 'malformed', `${call.malformed.reason} Send the call again.`);
  if (!callableTools(tools).some(({ name }) => name === call.name)) {
    const names = listShownTools(tools, state.loadedTools).map(({ name }) => name);
    if (tools.programs?.some(({ name }) => name === call.name))
      return refuse(
        'unknown_tool',
        `"${call.name}" is not called like this, but by a program: use ${runProgram.name}.`,
      );
    const hint = tools.search ? ` ${toolSearch.name} finds others.` : '';
    return refuse('unknown_tool', `There is no tool named "${call.name}". Tools: ${names.join(', ')}.${hint}`);
  }
  return undefined;
}
