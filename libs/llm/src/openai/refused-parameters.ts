import type { ProviderError } from '../provider-error';

/** Parameters that a server refused by name, with the name under which it wants the value, or null to leave it out. */
export type Lessons = Readonly<Record<string, string | null>>;

/** What a request can do without. */
const optional = [
  ...['stream_options', 'temperature', 'top_p', 'reasoning_effort', 'tool_choice', 'response_format'],
  ...['max_tokens', 'max_completion_tokens'],
];

const otherNames: Readonly<Record<string, string>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/** What a refusal that names a parameter of the request teaches; undefined where it names none. */
export function learnFrom({ code, message }: ProviderError, params: object, lessons: Lessons): Lessons | undefined {
  if (code !== 'invalid_request' && code !== 'model_not_supported') return undefined;
  const named = optional
    .filter((name) => name in params && new RegExp(`(?<![a-z_])${name}(?![a-z_])`, 'i').test(message))
    .sort((a, b) => message.indexOf(a) - message.indexOf(b))[0];
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
  const entries = Object.entries(params).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const other = lessons[name];
    return other === undefined ? [[name, value]] : other === null ? [] : [[other, value]];
  });
  const omitted = refused.filter((name) => lessons[name] === null);
  return { params: Object.fromEntries(entries) as Params, omitted }; // optional fields are missing, or renamed
}
