import type { ProviderError } from '../provider-error';

/** Parameters that a server refused by name, with the name under which it wants the value, or null to leave it out. */
export type Lessons = Readonly<Record<string, string | null>>;

/** What a request can do without, each with the words of a refusal that are about it. */
const optional: Readonly<Record<string, RegExp>> = {
  ...toMentions('stream_options', 'temperature', 'top_p', 'tool_choice', 'response_format'),
  // The second are the words of Claude behind a gateway, if its thinking did not come back.
  reasoning_effort: /(?<![a-z_])reasoning_?effort(?![a-z_])|expected `?thinking`? or `?redacted_thinking`?/i,
  ...toMentions('max_tokens', 'max_completion_tokens', 'max_output_tokens'),
  stream: /verified to stream|(?:tools?|tool use) in streaming mode|(?<![a-z_])stream['"`]? (?:is|are) not supported/i,
  // These names are words of the language, too: only a sentence about the parameter itself counts.
  reasoning: parameterRefused('reasoning'),
  include: new RegExp(`${parameterRefused('include').source}|encrypted content is not supported`, 'i'),
  text: parameterRefused('text'),
};

/** xAI names them without the lines: `reasoningEffort`. */
function toMentions(...names: string[]): Record<string, RegExp> {
  const toPattern = (name: string) => new RegExp(`(?<![a-z_])${name.replaceAll('_', '_?')}(?![a-z_])`, 'i');
  return Object.fromEntries(names.map((name) => [name, toPattern(name)]));
}

/** `name` may be followed by the path of a field in it: `reasoning.effort`. */
function parameterRefused(name: string): RegExp {
  const path = `${name}(?:\\.\\w+)*`;
  const before = `(?:unsupported|unknown|unrecognized) (?:parameter|request argument)[^a-z]*${path}(?![a-z_])`;
  return new RegExp(`${before}|(?<![a-z_.])${path}['"\`]? (?:is|are) not supported`, 'i');
}

const otherNames: Readonly<Record<string, string>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/** What a refusal that names a parameter of the request teaches; undefined where it names none. */
export function learnFrom({ code, message }: ProviderError, params: object, lessons: Lessons): Lessons | undefined {
  if (code !== 'invalid_request' && code !== 'model_not_supported') return undefined;
  const [named] = Object.entries(optional)
    .map(([name, words]) => ({ name, at: name in params ? message.search(words) : -1 }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name);
  if (named === undefined) return undefined;
  const other = otherNames[named];
  return { ...lessons, [named]: other !== undefined && lessons[other] === undefined ? other : null };
}

/** The request without what its server refuses, and the names of what was left out. */
export function withLessons<Params extends object>(
  params: Params,
  lessons: Lessons,
): { readonly params: Params; readonly omitted: readonly string[] } {
  const refused = Object.keys(lessons).filter((name) => name in params);
  if (refused.length === 0) return { params, omitted: [] };
  if (lessons['stream'] === null && lessons['stream_options'] === undefined)
    return withLessons(params, { ...lessons, stream_options: null }); // which is about nothing else
  const entries = Object.entries(params).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const other = lessons[name];
    return other === undefined ? [[name, value]] : other === null ? [] : [[other, value]];
  });
  const omitted = refused.filter((name) => lessons[name] === null);
  return { params: Object.fromEntries(entries) as Params, omitted }; // optional fields are missing, or renamed
}
