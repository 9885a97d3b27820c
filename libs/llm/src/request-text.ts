import { memoizeGrowingList } from '@rondo/domain';

/**
 * A request as JSON. Elements of its lists (messages and tools) that were in the previous request are not serialized again,
 * so that the cost depends on what is new. `unsettled`: how many elements at the end of a list may change in the next request.
 */
export function requestText(request: object, { unsettled = 0 } = {}): string {
  const pieces = ['{'];
  for (const [name, value] of Object.entries(request) as [string, unknown][]) {
    if (value === undefined) continue;
    pieces.push(pieces.length > 1 ? ',' : '', `"${name}":`);
    if (Array.isArray(value)) pieces.push('[', ...listPieces(value, unsettled), ']');
    else pieces.push(JSON.stringify(value));
  }
  return joined([...pieces, '}']);
}

/** The first is always serialized: it may be the system prompt, which is a new object in each request. */
function listPieces([first, ...others]: readonly object[], unsettled: number): string[] {
  if (!first) return [];
  const settled = Math.max(0, others.length - unsettled);
  return [JSON.stringify(first), settledText(others.slice(0, settled)), ...others.slice(settled).map(following)];
}

const settledText = memoizeGrowingList<object, string>((text = '', more) => joined([text, ...more.map(following)]));

const following = (one: object): string => `,${JSON.stringify(one)}`;

/** One flat string: with `+`, V8 would keep a tree of thousands of parts and walk it each time. */
const joined = (pieces: readonly string[]): string => pieces.join('');
