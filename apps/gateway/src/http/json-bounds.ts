import type { FieldError } from '../problems/api-error';

export const maxDepth = 64;
export const tooDeep = `must not be nested deeper than ${maxDepth} levels`;

/** In all. A value of two bytes of JSON costs far more than that to parse and to validate. */
export const maxValues = 20_000;
export const tooMany = `must not hold more than ${maxValues} values with what comes before`;

const toCode = (character: string): number => character.charCodeAt(0);
const [quote, backslash, comma, space] = [toCode('"'), toCode('\\'), toCode(','), toCode(' ')];
const [openList, closeList, openObject, closeObject] = [toCode('['), toCode(']'), toCode('{'), toCode('}')];

/** By character code: whether it has a meaning outside of a string. One look is faster than six comparisons. */
const isStructural = new Uint8Array(0x1_0000);
for (const code of [quote, comma, openList, closeList, openObject, closeObject]) isStructural[code] = 1;

/**
 * The top-level field in which JSON is nested too deep or holds too many values, found before parsing: that takes a hundred
 * times as long for many small values, and code that walks the parsed value may recurse. Malformed JSON is left to the
 * parser, which does not recurse.
 */
export function findExcess(json: string): FieldError | undefined {
  let depth = 0;
  let values = 1;
  let name = '';
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (isStructural[code] === 0) continue;
    if (code === quote) {
      const end = endOfString(json, index + 1);
      if (depth === 1) name = json.slice(index + 1, end);
      index = end;
    } else if (code === comma) {
      values += 1;
    } else if (code === openList || code === openObject) {
      depth += 1;
      if (!isEmpty(json, index)) values += 1;
      if (depth > maxDepth) return { field: findField(json, name), message: tooDeep };
    } else if (code === closeList || code === closeObject) {
      depth -= 1;
    }
    if (values > maxValues) return { field: findField(json, name), message: tooMany };
  }
  return undefined;
}

const findField = (json: string, name: string): string => (json.trimStart().startsWith('{') ? name : '');

/** Whether the list or object that opens here has no values. */
function isEmpty(json: string, open: number): boolean {
  let next = open + 1;
  while (json.charCodeAt(next) <= space) next += 1;
  const code = json.charCodeAt(next);
  return code === closeList || code === closeObject;
}

/**
 * The closing quote of the string that begins here. Strings make up most of a long body, so `indexOf` skips them; it would be
 * slow for one with many escaped quotes.
 */
function endOfString(json: string, from: number): number {
  const end = json.indexOf('"', from);
  if (end === -1 || json.charCodeAt(end - 1) !== backslash) return end === -1 ? json.length : end;
  let index = json.indexOf('\\', from);
  while (index < json.length && json.charCodeAt(index) !== quote) index += json.charCodeAt(index) === backslash ? 2 : 1;
  return index;
}
