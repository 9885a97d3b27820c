import { findInexactNumber, readJson } from '@rondo/contract';
import type { JsonType } from '../tools/tool-parameters';

type Types = ReadonlySet<JsonType>;

const textOnly: Types = new Set(['string']);

/**
 * Parses the text of a parameter by its types alone: a string is taken as it is, any other type is JSON. For a parameter
 * that may be a string or a list, JSON of a list is the list and JSON of a string is that string; any other text is taken
 * as it is.
 */
export function readValue(text: string, types: Types = textOnly): { value: unknown } | { problem: string } {
  const isText = types.has('string');
  if (isText && !mayBeStructured(types)) return { value: text };

  const isExact = findInexactNumber(text) === undefined;
  const value = isExact ? readJson(text) : undefined;
  if (isText) return { value: value !== undefined && isStructuredOrText(value, types) ? value : text };
  if (value !== undefined && types.has(toType(value))) return { value };
  const form = isExact ? 'written as JSON' : 'with no more digits than can be kept';
  return { problem: `must be ${[...types].join(' or ')}, ${form}; received ${excerpt(text)}.` };
}

/** The text that `readValue` parses to this value. */
export function writeValue(value: unknown, types: Types = textOnly): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const read = types.has('string') ? readValue(value, types) : { value };
  return 'value' in read && read.value === value ? value : JSON.stringify(value);
}

const mayBeStructured = (types: Types): boolean => types.has('array') || types.has('object');

function isStructuredOrText(value: unknown, types: Types): boolean {
  const type = toType(value);
  return types.has(type) && (type === 'array' || type === 'object' || type === 'string');
}

function toType(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object';
}

const excerptLength = 60;

const excerpt = (text: string): string =>
  JSON.stringify(text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text);
