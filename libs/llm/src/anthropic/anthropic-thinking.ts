import type Anthropic from '@anthropic-ai/sdk';
import type { LlmSettings } from '@rondo/contract';
import type { ModelMessage } from '@rondo/domain';
import { claudeFamily } from './claude-family';

type Parameters = Pick<Anthropic.MessageCreateParamsStreaming, 'thinking' | 'output_config'>;

interface Thinking {
  readonly thinks: boolean;
  readonly parameters: Parameters;
}

interface Asked {
  readonly id: string;
  readonly settings: LlmSettings;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens: number;
}

const smallestBudget = 1024;
const budgets = { low: 4096, medium: 10_240, high: 20_480 } as const;

/** What a Claude model is told about thinking, and whether it will think. */
export function thinkingFor(asked: Asked): Thinking {
  const { enable_thinking, thinking_budget, reasoning_effort } = asked.settings;
  const wanted = enable_thinking ?? (thinking_budget !== undefined || reasoning_effort !== undefined);
  switch (claudeFamily(asked.id).thinking) {
    case 'budget':
      return wanted ? withBudget(asked) : silent;
    case 'adaptive':
      return wanted ? adaptive(asked.settings) : silent;
    case 'adaptive_by_default':
      return enable_thinking === false
        ? { thinks: false, parameters: { thinking: { type: 'disabled' } } }
        : adaptive(asked.settings);
    case 'adaptive_always':
      return adaptive(asked.settings);
  }
}

const silent: Thinking = { thinks: false, parameters: {} };

/** The thoughts are part of the longest reply, so they leave half of it for the answer. */
function withBudget({ settings, messages, maxTokens }: Asked): Thinking {
  const wanted = settings.thinking_budget ?? budgets[settings.reasoning_effort ?? 'low'];
  const budget_tokens = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget_tokens < smallestBudget || !mayThink(messages)) return silent;
  return { thinks: true, parameters: { thinking: { type: 'enabled', budget_tokens } } };
}

/** Some models hide their thoughts unless they are asked to show a summary. */
const adaptive = ({ reasoning_effort }: LlmSettings): Thinking => ({
  thinks: true,
  parameters: {
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(reasoning_effort && { output_config: { effort: reasoning_effort } }),
  },
});

/**
 * From the user's words to the end of its calls, a reply is one turn, and one that began without a signed thought has to
 * end without one. It may have begun so because another model wrote it, or because its beginning was summed up.
 */
function mayThink(messages: readonly ModelMessage[]): boolean {
  const said = messages.slice(0, messages.findLastIndex(({ role }) => role !== 'user') + 1);
  if (said.at(-1)?.role !== 'tool') return true;
  const reply = said[said.findLastIndex(({ role }) => role === 'user') + 1];
  const first = reply?.role === 'assistant' ? reply.content[0] : undefined;
  return first?.type === 'reasoning' && (first.signature !== undefined || first.redacted !== undefined);
}
