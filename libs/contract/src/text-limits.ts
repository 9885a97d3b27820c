/**
 * The largest texts that are accepted, in characters (UTF-16 units). Each is far more than a model can read, and small
 * enough that a service survives a hundred of them in memory.
 */
export const textLimits = {
  /** A text block, or an input that is a string. */
  block: 1_000_000,
  /** All text of a message together. */
  message: 2_000_000,
  blocks: 100,
  url: 2_048,
  toolName: 100,
  toolDescription: 4_000,
  modelName: 200,
  /** One of the directives of an agent. */
  directive: 2_000,
  /** `llm.response_format` as JSON. */
  responseFormat: 100_000,
  /** A reply of a model: text, reasoning, and the arguments of its calls. */
  reply: 1_000_000,
  callsInReply: 100,
  /** The output of a tool, whatever the executor allows. */
  toolOutput: 100_000,
  toolError: 20_000,
} as const;

/** The size at which a thread accepts no more messages and runs from users. */
export interface ThreadLimits {
  readonly messages: number;
  /** The stored contents of its messages. */
  readonly bytes: number;
}

export const usualThreadLimits: ThreadLimits = { messages: 50_000, bytes: 256 * 1024 * 1024 };

/** The index itself, or the one before it where a cut would split a surrogate pair. */
export function characterStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const isLowSurrogate = unit >= 0xdc00 && unit <= 0xdfff;
  return isLowSurrogate ? index - 1 : index;
}
