/**
 * How much may be said at once. Each is far beyond what a model can read, and low enough that a service which holds a
 * hundred of them lives. Characters are UTF-16 units.
 */
export const textLimits = {
  /** Of a block of text, or of an input that is a string. */
  block: 1_000_000,
  /** Of all text of a message together. */
  message: 2_000_000,
  blocks: 100,
  url: 2_048,
  toolName: 100,
  modelName: 200,
  /** Of `llm.response_format`, as JSON. */
  responseFormat: 100_000,
  /** Of what a model says in one reply: text, reasoning, and the arguments of its calls. */
  reply: 1_000_000,
  callsInReply: 100,
  /** Of what a tool answers, whatever its executor allows. */
  toolOutput: 100_000,
  toolError: 20_000,
} as const;

/** How much a thread may hold before it takes no more messages and runs from people. */
export interface ThreadLimits {
  readonly messages: number;
  /** Of the contents of its messages, as they are stored. */
  readonly bytes: number;
}

export const usualThreadLimits: ThreadLimits = { messages: 50_000, bytes: 256 * 1024 * 1024 };
