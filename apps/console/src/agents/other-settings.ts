export interface OtherSetting {
  readonly words: string;
  readonly value: string;
}

/** Each setting whose path, such as `limits.max_iterations`, is not shown elsewhere: its name with its unit, and its value. */
export const listOthers = (settings: object, shown: readonly string[], path: readonly string[] = []): OtherSetting[] =>
  Object.entries(settings).flatMap(([name, value]: [string, unknown]) => {
    const place = [...path, name];
    if (shown.includes(place.join('.')) || value === undefined) return [];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return listOthers(value, shown, place);
    return { words: place.map(toWords).join(', '), value: toValue(value) };
  });

/** `tool_timeout_s`: “tool timeout in seconds”. */
const toWords = (name: string): string => name.replace(/_s$/, ' in seconds').replaceAll('_', ' ');

function toValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(toValue).join(', ');
  return typeof value === 'string'
    ? value
    : typeof value === 'number'
      ? value.toLocaleString('en-US')
      : JSON.stringify(value);
}
