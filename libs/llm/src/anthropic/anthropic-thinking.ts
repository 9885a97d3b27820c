import type Anthropic from '@anthropic-ai/sdk';
import type { LlmSettings, ReasoningEffort } from '@rondo/contract';
import type { ModelMessage } from '@rondo/domain';
import { nearestEffort } from '../providers/provider-profile';
import type { ClaudeFamily } from './claude-family';

type Parameters = Pick<Anthropic.MessageCreateParamsStreaming, 'thinking' | 'output_config'>;

export interface Thinking {
  readonly thinks: boolean;
  readonly parameters: Parameters;
  /** How much it is asked to think, where that has a name. `none` where the run names an effort, and it cannot think now. */
  readonly effort?: ReasoningEffort;
}

interface ModelCall {
  readonly family: Pick<ClaudeFamily, 'thinking' | 'noEffort' | 'noDisplay'>;
  readonly settings: LlmSettings;
  readonly messages: readonly ModelMessage[];
  readonly maxTokens: number;
  readonly maker: string;
  /** Those that the model has. Absent: all of Claude's. */
  readonly efforts: readonly ReasoningEffort[] | undefined;
}

const smallestBudget = 1024;
const budgets = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
  max: 64_000,
} as const;

/** The thinking parameters for a Claude model, and whether it will think. */
export function thinkingFor(call: ModelCall): Thinking {
  const { enable_thinking, thinking_budget, reasoning_effort } = call.settings;
  const wanted =
    enable_thinking ??
    (thinking_budget !== undefined || (reasoning_effort !== undefined && reasoning_effort !== 'none'));
  const isOff = !(enable_thinking ?? reasoning_effort !== 'none');
  switch (call.family.thinking) {
    case 'budget':
      return wanted ? withBudget(call) : silent(call);
    case 'adaptive':
      return wanted ? adaptive(call) : silent(call);
    case 'adaptive_by_default':
      return isOff ? { ...silent(call), parameters: { thinking: { type: 'disabled' } } } : adaptive(call);
    case 'adaptive_or_between_tools':
      return isOff
        ? { ...silent(call), thinks: true, parameters: { thinking: { type: 'between_tools' } } }
        : adaptive(call);
    case 'adaptive_always':
      return adaptive(isOff ? { ...call, settings: { reasoning_effort: 'none' } } : call);
  }
}

/** A run that names an effort is told that none was used. */
const silent = ({ settings: { reasoning_effort } }: ModelCall): Thinking => ({
  thinks: false,
  parameters: {},
  ...(reasoning_effort && { effort: 'none' }),
});

/** Thinking counts towards the longest reply, so at most half of that is spent on it. */
function withBudget(call: ModelCall): Thinking {
  const { settings, messages, maxTokens, maker } = call;
  const wanted = settings.thinking_budget ?? budgets[settings.reasoning_effort ?? 'low'];
  const budget_tokens = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget_tokens < smallestBudget || !mayThink(messages, maker)) return silent(call);
  const { reasoning_effort: effort } = settings;
  return {
    thinks: true,
    parameters: { thinking: { type: 'enabled', budget_tokens } },
    ...(effort && settings.thinking_budget === undefined && { effort }),
  };
}

/** Some models show no thinking unless a summary is requested. */
function adaptive({ family, settings: { reasoning_effort }, efforts }: ModelCall): Thinking {
  const effort = reasoning_effort && !family.noEffort ? nearest(reasoning_effort, efforts) : undefined;
  const parameters: Parameters = {
    thinking: { type: 'adaptive', ...(!family.noDisplay && { display: 'summarized' }) },
    ...(effort && { output_config: { effort } }),
  };
  return { thinks: true, parameters, ...(effort && { effort }) };
}

const claudeEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

function nearest(wanted: ReasoningEffort, efforts: readonly ReasoningEffort[] = claudeEfforts) {
  const effort = nearestEffort(wanted, { efforts });
  return claudeEfforts.find((one) => one === effort);
}

/**
 * The replies between two user messages are one turn, and a turn that began without signed thinking must not contain any.
 * It may have begun so because another model wrote it, or because its beginning was summarized.
 */
function mayThink(messages: readonly ModelMessage[], maker: string): boolean {
  const history = messages.slice(0, messages.findLastIndex(({ role }) => role !== 'user') + 1);
  if (history.at(-1)?.role !== 'tool') return true;
  const reply = history[history.findLastIndex(({ role }) => role === 'user') + 1];
  const first = reply?.role === 'assistant' ? reply.content[0] : undefined;
  if (first?.type !== 'reasoning') return false;
  return first.opaque?.maker === maker || first.signature !== undefined || first.redacted !== undefined;
}
