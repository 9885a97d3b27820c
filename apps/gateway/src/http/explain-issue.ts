import type { z } from 'zod';

type GivenIssue = Parameters<z.core.$ZodErrorMap>[0];

export const isMissing = 'is required';

/** What a value must be, as it stands after the name of its field. Words of a schema's own come before these. Undefined: zod's. */
export function explainIssue(issue: GivenIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union':
      if (issue.input === undefined) return isMissing;
      return issue.code === 'invalid_type' ? `must be ${nameType(issue.expected)}` : undefined;
    case 'invalid_value':
      if (issue.input === undefined) return isMissing;
      return `must be ${nameValues(issue.values)}`;
    case 'too_small':
      return explainLeast(issue.origin, Number(issue.minimum), issue);
    case 'too_big':
      return explainMost(issue.origin, Number(issue.maximum), issue);
    case 'invalid_format':
      return explainFormat(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return undefined;
  }
}

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

export const nameType = (type: string): string => types[type] ?? type;

export function nameValues(values: readonly z.core.util.Primitive[]): string {
  const named = values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value)));
  return named.length === 1 ? String(named[0]) : `one of ${named.join(', ')}`;
}

interface Bound {
  readonly exact?: boolean | undefined;
  readonly inclusive?: boolean | undefined;
}

function explainLeast(origin: string, least: number, { exact, inclusive }: Bound): string {
  if (hasSize(origin)) {
    if (least === 1 && exact !== true) return origin === 'string' ? 'must not be empty' : 'must have at least one item';
    return `must have ${exact === true ? 'exactly' : 'at least'} ${countParts(origin, least)}`;
  }
  return inclusive === false ? `must be more than ${least}` : `must be at least ${least}`;
}

function explainMost(origin: string, most: number, { exact, inclusive }: Bound): string {
  if (hasSize(origin)) return `must have ${exact === true ? 'exactly' : 'at most'} ${countParts(origin, most)}`;
  return inclusive === false ? `must be less than ${most}` : `must be at most ${most}`;
}

const hasSize = (origin: string): boolean => origin === 'string' || origin === 'array' || origin === 'set';

function countParts(origin: string, count: number): string {
  const part = origin === 'string' ? 'character' : 'item';
  return count === 1 ? `one ${part}` : `${count} ${part}s`;
}

const formats: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'a URL',
  date: 'a date such as 2026-11-30',
  datetime: 'a time with its zone, such as 2026-11-30T09:00:00Z',
  uuid: 'a UUID',
  base64: 'base64',
};

function explainFormat(issue: Extract<GivenIssue, { code: 'invalid_format' }>): string | undefined {
  if (issue.format === 'starts_with') return `must begin with ${JSON.stringify(issue['prefix'])}`;
  const name = formats[issue.format];
  return name === undefined ? undefined : `must be ${name}`;
}
