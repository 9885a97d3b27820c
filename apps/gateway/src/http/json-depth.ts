import type { FieldError } from '../problems/problems';

export const maxDepth = 64;
export const tooDeep = `must not be nested deeper than ${maxDepth} levels`;

const codeOf = (character: string): number => character.charCodeAt(0);
const quote = codeOf('"');
const backslash = codeOf('\\');
const [openList, closeList, openObject, closeObject] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')];

/**
 * The top-level field in which JSON is nested too deep, found before parsing: code that walks the parsed value may
 * recurse. Malformed JSON is left to the parser, which does not recurse.
 */
export function findExcessDepth(json: string): FieldError | undefined {
  let depth = 0;
  let name = '';
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      const end = endOfString(json, index + 1);
      if (depth === 1) name = json.slice(index + 1, end);
      index = end;
    } else if (code === openList || code === openObject) {
      depth += 1;
      if (depth > maxDepth) return { field: json.trimStart().startsWith('{') ? name : '', message: tooDeep };
    } else if (code === closeList || code === closeObject) {
      depth -= 1;
    }
  }
  return undefined;
}

/** The closing quote of the string that begins here. Strings make up most of a long body, so `indexOf` skips them. */
function endOfString(json: string, from: number): number {
  let end = json.indexOf('"', from);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, quoteIndex: number): boolean {
  let before = quoteIndex;
  while (json.charCodeAt(before - 1) === backslash) before -= 1;
  return (quoteIndex - before) % 2 === 1;
}
