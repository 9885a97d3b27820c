/** How OpenAI's models differ in what they take. Names of other makers are asked for what was asked of us. */
export interface OpenAiFamily {
  /** Takes `max_completion_tokens`, no sampling parameters, and a reasoning effort. */
  readonly reasons: boolean;
  /** Refuses a reasoning effort. */
  readonly plain: boolean;
  /** Takes tools through Chat Completions only while it does not reason. */
  readonly toolsOrReasoning: boolean;
}

const reasoning = /^(?:o\d|gpt-[5-9])(?!.*-chat)/;
const plain = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;
const toolsOrReasoning = /^gpt-(?:5\.[2-9]|[6-9])(?!.*-chat)/;

export const openAiFamily = (id: string): OpenAiFamily => ({
  reasons: reasoning.test(id),
  plain: plain.test(id),
  toolsOrReasoning: toolsOrReasoning.test(id),
});
