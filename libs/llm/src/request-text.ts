import { oncePer } from '@rondo/domain';

/**
 * A request as JSON. What stands in its lists, messages and tools, is made text once: nearly all of them were in the
 * request before, so that a request costs what is new in it.
 */
export function requestText(request: object): string {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(request) as [string, unknown][]) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? `[${value.map(textOf).join(',')}]` : JSON.stringify(value);
    fields.push(`"${name}":${text}`);
  }
  return `{${fields.join(',')}}`;
}

const textOf = oncePer((part: object): string => JSON.stringify(part));
