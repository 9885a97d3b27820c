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
  /** How long a reply may be where nobody said it. */
  readonly maxTokens: number;
}

const shapes: readonly { readonly name: RegExp; readonly family: ClaudeFamily }[] = [
  {
    name: /^claude-(?:fable|mythos)-|^claude-opus-5-5/,
    family: { thinking: 'adaptive_always', samples: false, maxTokens: 64_000 },
  },
  {
    name: /^claude-(?:opus|sonnet|haiku)-[5-9]/,
    family: { thinking: 'adaptive_by_default', samples: false, maxTokens: 64_000 },
  },
  { name: /^claude-opus-4-[78]/, family: { thinking: 'adaptive', samples: false, maxTokens: 64_000 } },
  { name: /^claude-(?:opus|sonnet)-4-6/, family: { thinking: 'adaptive', samples: true, maxTokens: 64_000 } },
  {
    name: /^claude-(?:opus-4-5|sonnet-4|haiku-4|3-7)/,
    family: { thinking: 'budget', samples: true, maxTokens: 64_000 },
  },
  { name: /^claude-opus-4/, family: { thinking: 'budget', samples: true, maxTokens: 32_000 } },
];

const unknownModel: ClaudeFamily = { thinking: 'budget', samples: true, maxTokens: 8192 };

export const claudeFamily = (id: string): ClaudeFamily =>
  shapes.find(({ name }) => name.test(id))?.family ?? unknownModel;
