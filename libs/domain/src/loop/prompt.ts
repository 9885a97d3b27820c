import { selectionOf } from '../context/selection';
import { withTemporary, withWarning } from '../context/temporary-message';
import type { EncodedConversation, ReplyDecoder } from '../dialects/dialect';
import { dialectNamed } from '../dialects/registry';
import { type Message, type NewMessage, textLimits } from '@rondo/contract';
import type { ModelRequest } from '../models/model';
import { memoize } from '../memoize/memoize';
import type { AgentRun, LoopContext } from './loop-context';
import { profiles } from '../profiles/profiles';
import { warningOf } from './repetition';

/** A run, and where it stands. */
export type RunPosition = Pick<LoopContext, 'run' | 'state'>;

/** What the model is asked next, and the decoder that will understand its reply. */
export function promptOf({ run, state }: RunPosition): { prompt: ModelRequest; decoder: ReplyDecoder } {
  const { dialect, allowed, system, responseFormat, tools } = frameOf(run);
  const { model, llm, processor } = run.settings;
  const conversation = messagesToSend({ run, state }) as readonly Message[]; // the dialects read no `seq`, which is all that new messages lack
  const { messages } = dialect.encode(conversation, allowed, processor);
  const settings = responseFormat ? { response_format: { ...responseFormat }, ...llm } : llm;

  const decoder = dialect.decoder(allowed, { ...processor, max_tool_calls: mostCalls(processor.max_tool_calls) });
  return { prompt: { model, system, messages, tools, settings }, decoder };
}

/** In one reply; a run's own limit of 0 means none. */
const mostCalls = (limit: number): number =>
  limit > 0 ? Math.min(limit, textLimits.callsInReply) : textLimits.callsInReply;

/** What of the conversation is sent, and what is shown and said with it this once. */
export const messagesToSend = ({ run, state }: RunPosition): readonly NewMessage[] =>
  withWarning(withTemporary(selectionOf(run, state).messages, state.unseen), warningOf({ run, state }));

/** What is the same in every iteration of a run, as text. */
export const frameText = (run: AgentRun): string => frameOf(run).text;

/** Made once per run, so that a provider's prompt cache hits and nobody makes it again. */
const frameOf = memoize((run: AgentRun) => {
  const dialect = dialectNamed(run.settings.processor.dialect);
  const allowed = run.tools.offered;
  const { tools, responseFormat, ...words } = dialect.encode([], allowed, run.settings.processor);
  const system = systemPrompt(run, words);
  return { dialect, allowed, tools, responseFormat, system, text: `${system}\n${JSON.stringify(tools)}` };
});

type DialectWords = Pick<EncodedConversation, 'instructions' | 'requirements'>;

/**
 * What the agent is and has, then its directives, then what its replies must be (JM11). No time but the date, so that the
 * runs of a day share what a provider keeps of it.
 */
function systemPrompt({ settings, createdAt }: AgentRun, { instructions, requirements }: DialectWords): string {
  const { agent } = settings;
  const directives = agent.directives?.map((directive) => `- ${directive}`).join('\n');
  return [
    agent.system_prompt ?? profiles[settings.profile].systemPrompt(settings.tools),
    agent.name && `Your name is ${agent.name}.`,
    agent.description && `About you: ${agent.description}`,
    agent.task && `Your task: ${agent.task}`,
    instructions,
    directives && `Follow these directives:\n${directives}`,
    `Today is ${createdAt.slice(0, 10)} (UTC).`,
    requirements,
  ]
    .filter(Boolean)
    .join('\n\n');
}
