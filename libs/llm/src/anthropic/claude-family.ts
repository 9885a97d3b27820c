/** How thinking is requested from a Claude model. */
export type ClaudeThinking =
  /** By a token budget; none without a request. */
  | 'budget'
  /** Adaptively on request, with an effort. */
  | 'adaptive'
  /** Adaptively unless it is disabled. */
  | 'adaptive_by_default'
  /** Adaptively, or only in short notes between calls. */
  | 'adaptive_or_between_tools'
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
  /** The longest reply, where the run sets no limit; `learnsLimit`: also where it sets a higher one. */
  readonly maxTokens: number;
  readonly learnsLimit?: boolean;
  /** Refuses to be forced to call a tool. */
  readonly choosesTools?: boolean;
  /** Refuses to be told how much to think. */
  readonly noEffort?: boolean;
  /** Refuses to be told to show what it thinks. */
  readonly noDisplay?: boolean;
  /** Refuses marks of what is to be kept of a prompt. */
  readonly uncached?: boolean;
}

const newest = { samples: false, structuredOutputs: true, maxTokens: 64_000 };
const budgeted = { thinking: 'budget', samples: true } as const;

const shapes: readonly { readonly name: RegExp; readonly family: ClaudeFamily }[] = [
  { name: /^claude-(?:fable|mythos)-|^claude-opus-5-5/, family: { thinking: 'adaptive_always', ...newest } },
  { name: /^claude-sonnet-5-5/, family: { thinking: 'adaptive_or_between_tools', ...newest } },
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

/** Of a model by any name that has Claude's in it: `global.anthropic.claude-opus-4-7-v1:0`, `anthropic/claude-opus-4.7`. */
export function claudeFamily(id: string): ClaudeFamily {
  const name = (/claude-.*/.exec(id)?.[0] ?? id).replace(/(\d)\.(?=\d)/g, '$1-');
  return shapes.find((shape) => shape.name.test(name))?.family ?? unknownModel;
}

/** What the refusal of a request says about the family of its model; undefined where it says nothing new. */
export function learnFamily(family: ClaudeFamily, message: string): ClaudeFamily | undefined {
  const limit = /max_tokens: \d+ > (\d+)/.exec(message)?.[1];
  const learned = {
    ...family,
    ...(/thinking\.type\.enabled.* not supported/i.test(message) && { thinking: 'adaptive' as const }),
    ...(/adaptive thinking is not|'adaptive' found using 'type'/i.test(message) && { thinking: 'budget' as const }),
    ...(/thinking\.type\.disabled.* not supported/i.test(message) && { thinking: 'adaptive_always' as const }),
    ...(/\bbetween_tools\b/.test(message) && { thinking: 'adaptive_or_between_tools' as const }),
    ...(/tool_choice:? .*not supported/i.test(message) && { choosesTools: true }),
    ...(/`?(?:temperature|top_p)`? is (?:deprecated|not supported)/i.test(message) && { samples: false }),
    ...(/output_config(?:\.format)?: extra inputs/i.test(message) && { structuredOutputs: false }),
    ...(/output_config: extra inputs|not support the effort parameter/i.test(message) && { noEffort: true }),
    ...(/\bdisplay: extra inputs/i.test(message) && { noDisplay: true }),
    ...(/cache_control: extra inputs|did not allow prompt caching/i.test(message) && { uncached: true }),
    ...(limit !== undefined && { maxTokens: Number(limit), learnsLimit: true }),
  };
  return (Object.keys(learned) as (keyof ClaudeFamily)[]).some((key) => learned[key] !== family[key])
    ? learned
    : undefined;
}
