/** How Claude models differ in how they are told to think. */
export type ClaudeThinking =
  /** By a budget of tokens; silent about it unless asked. */
  | 'budget'
  /** By itself where it is asked to, and by an effort. */
  | 'adaptive'
  /** By itself unless it is told not to. */
  | 'adaptive_by_default'
  /** By itself, whatever it is told. */
  | 'adaptive_always';

export interface ClaudeFamily {
  readonly thinking: ClaudeThinking;
  /** Takes a temperature and `top_p`. */
  readonly samples: boolean;
  /**
   * Takes a JSON schema of its reply. Says Anthropic's page on structured outputs: "Claude 4.5 and later models and Claude
   * Mythos Preview". An older model would refuse the request, and an unknown one may.
   */
  readonly structuredOutputs: boolean;
  /** How long a reply may be where nobody said it. */
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
