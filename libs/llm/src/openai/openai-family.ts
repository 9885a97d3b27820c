/** How OpenAI's models differ in the parameters that they accept. Other makers' models get the parameters as requested. */
interface OpenAiFamily {
  /** Accepts `max_completion_tokens`, no sampling parameters, and a reasoning effort. */
  readonly reasons: boolean;
  /** Refuses a reasoning effort. */
  readonly plain: boolean;
  /** Accepts tools through Chat Completions only while it does not reason; it knows the effort `none`. */
  readonly toolsOrReasoning: boolean;
}

const reasoning = /^(?:o\d|gpt-[5-9])(?!.*-chat)/;
const plain = /^(?:gpt-[34]|chatgpt-|gpt-5.*-chat)/;
const toolsOrReasoning = /^gpt-(?:5\.[2-9]|[6-9])(?!.*-chat)/;

const longEfforts: ReadonlySet<unknown> = new Set(['high', 'xhigh', 'max']);

/** Whether a model thinks for minutes before its first word, of which OpenAI shows nothing. Other servers put a maker before its name. */
export function thinksLong(id: string, effort: unknown): boolean {
  const name = id.slice(id.lastIndexOf('/') + 1);
  return reasoning.test(name) && (longEfforts.has(effort) || /-pro\b/.test(name));
}

/** `id`: the model without its provider. */
export const openAiFamily = (id: string): OpenAiFamily => ({
  reasons: reasoning.test(id),
  plain: plain.test(id),
  toolsOrReasoning: toolsOrReasoning.test(id),
});
