/** How thinking is requested from a Claude model. */
export type ClaudeThinking =
  /** By a token budget; none without a request. */
  | 'budget'
  /** Adaptively on request, with an effort. */
  | 'adaptive'
  /** Adaptively unless it is disabled. */
  | 'adaptive_by_default'
  /** Adaptively, always. */
  | 'adaptive_always';

export interface ClaudeFamily {
  readonly thinking: ClaudeThinking;
  /** Accepts a temperature and `top_p`. */
  readonly samples: boolean;
  /**
   * Accepts a JSON schema for its reply. Anthropic's page on structured outputs: "Claude 4.5 and later models and Claude
   * Mythos Preview". An older model would refuse the request, and an unknown one may.
   */
  readonly structuredOutputs: boolean;
  /** The longest reply, where the run sets no limit. */
  readonly maxTokens: number;
}

const newest = { samples: false, structuredOutputs: true, maxTokens: 64_000 };
const budgeted = { thinking: 'budget', samples: true } as const;

const shapes: readonly { readonly name: RegExp; readonly family: ClaudeFamily }[] = [
  { name: /^claude-(?:fable|mythos)-|^claude-(?:opus|sonnet)-5-5/, family: { thinking: 'adaptive_always', ...newest } },
  { name: /^claude-(?:opus|sonnet|haiku)-[5-9]/, family: { thinking: 'adaptive_by_default', ...newest } },
  { name: /^claude-opus-4-[78]/, family: { thinking: 'adaptive', ...newest } },
  { name: /^claude-(?:opus|sonnet)-4-6/, family: { thinking: 'adaptive', ...newest, samples: true } },
  {
    name: /^claude-(?:opus|sonnet|haiku)-4-5/,
    family: { ...budgeted, structuredOutputs: true, maxTokens: 64_000 },
  },
  { name: /^claude-(?:sonnet-4|haiku-4|3-7)/, family: { ...budgeted, structuredOutputs: false, maxTokens: 64_000 } },
  { name: /^claude-opus-4/, family: { ...budgeted, structuredOutputs: false, maxTokens: 32_000 } },
];

const unknownModel: ClaudeFamily = { ...budgeted, structuredOutputs: false, maxTokens: 8192 };

export const claudeFamily = (id: string): ClaudeFamily =>
  shapes.find(({ name }) => name.test(id))?.family ?? unknownModel;
