import type { ReplyDecoder } from './dialects/dialect';
import { dialectNamed } from './dialects/registry';
import type { Message } from './message';
import type { ModelRequest } from './model';
import type { AgentRun, Pass } from './pass';
import { profiles } from './profiles/profiles';
import { toolsNamed } from './tools/catalog';

/** What the model is asked next, and the decoder that will understand its reply. */
export function promptOf({ run, state }: Pass): { prompt: ModelRequest; decoder: ReplyDecoder } {
  const dialect = dialectNamed(run.settings.processor.dialect);
  const conversation = state.conversation as readonly Message[]; // the dialects read no `seq`, which is all that new messages lack
  const { model, llm, processor } = run.settings;
  const allowed = toolsNamed(run.settings.tools);
  const { instructions, messages, tools, responseFormat } = dialect.encode(conversation, allowed, processor);
  const system = [systemPrompt(run), instructions].filter((part) => part !== '').join('\n\n');
  const settings = responseFormat ? { response_format: { ...responseFormat }, ...llm } : llm;

  return { prompt: { model, system, messages, tools, settings }, decoder: dialect.decoder(allowed, processor) };
}

/** The same words in every iteration of a run, so that a provider's prompt cache hits. */
function systemPrompt({ settings, createdAt }: AgentRun): string {
  const { agent } = settings;
  const directives = agent.directives?.map((directive) => `- ${directive}`).join('\n');
  return [
    agent.system_prompt ?? profiles[settings.profile].systemPrompt,
    agent.name && `Your name is ${agent.name}.${agent.description ? ` ${agent.description}` : ''}`,
    agent.task && `Your task: ${agent.task}`,
    directives && `Follow these directives:\n${directives}`,
    `Today is ${createdAt.slice(0, 10)} (UTC).`,
  ]
    .filter(Boolean)
    .join('\n\n');
}
