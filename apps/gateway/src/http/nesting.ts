import type { FieldError } from '../problems/problems';

export const maxDepth = 64;
export const tooDeep = `must not be nested deeper than ${maxDepth} levels`;

const codeOf = (character: string): number => character.charCodeAt(0);
const quote = codeOf('"');
const backslash = codeOf('\\');
const [openList, closeList, openObject, closeObject] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')];

/**
 * Whether JSON is nested too deep, and in which of its fields, found without parsing it: whatever walks it afterwards may
 * recurse. What is no JSON is left to the parser, which does not recurse.
 */
export function nestingTrouble(json: string): FieldError | undefined {
  let depth = 0;
  let name = '';
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      const end = endOfText(json, at + 1);
      if (depth === 1) name = json.slice(at + 1, end);
      at = end;
    } else if (code === openList || code === openObject) {
      depth += 1;
      if (depth > maxDepth) return { field: json.trimStart().startsWith('{') ? name : '', message: tooDeep };
    } else if (code === closeList || code === closeObject) {
      depth -= 1;
    }
  }
  return undefined;
}

/** Where the text that begins here has its closing quote. Texts are most of what is long, and are passed over quickly. */
function endOfText(json: string, from: number): number {
  let end = json.indexOf('"', from);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json.charCodeAt(before - 1) === backslash) before -= 1;
  return (at - before) % 2 === 1;
}
