import type { NewMessage, PlanProgress, ToolCall } from '@rondo/contract';
import { messageUser } from '../tools/conversation.tools';
import type { AnswerContext, CallOutcome } from './call-outcome';

type Shown = Pick<NewMessage, 'metadata'> & { readonly text: string };

/** What a call shows to people and to no model: what it says to the user, and the progress of the plan. */
export const statusMessages = (context: AnswerContext, call: ToolCall, outcome: CallOutcome): NewMessage[] =>
  [...saidBy(call, outcome), ...planIn(outcome)].map(({ text, metadata }) => ({
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration: context.state.iteration,
    type: 'status',
    is_llm_message: false,
    content: [{ type: 'text', text }],
    metadata: { ...metadata, tool_call_id: call.id },
  }));

function saidBy({ name, arguments: given }: ToolCall, outcome: CallOutcome): Shown[] {
  const said = name === messageUser.name ? messageUser.input.safeParse(given).data : undefined;
  const succeeded = 'result' in outcome && outcome.result.success;
  return said && succeeded ? [{ text: said.text, metadata: { kind: 'message_to_user' } }] : [];
}

function planIn(outcome: CallOutcome): Shown[] {
  const plan: PlanProgress | undefined = 'plan' in outcome ? outcome.plan : undefined;
  if (!plan) return [];
  return [{ text: `Plan: ${plan.done} of ${plan.total} done.`, metadata: { kind: 'plan_updated', ...plan } }];
}
