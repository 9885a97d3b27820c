import { memoizeGrowingList } from '@rondo/domain';

/**
 * A request as JSON. Of its lists, messages and tools, what stood in the request before is not made text again, so that a
 * request costs what is new in it. `unsettled`: how many at the end of a list may be other objects in the next request.
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

/** The first is made text anew: it may be the system prompt, which is an object of its own in each request. */
function listPieces([first, ...others]: readonly object[], unsettled: number): string[] {
  if (!first) return [];
  const settled = Math.max(0, others.length - unsettled);
  return [JSON.stringify(first), settledText(others.slice(0, settled)), ...others.slice(settled).map(following)];
}

const settledText = memoizeGrowingList<object, string>((text = '', more) => joined([text, ...more.map(following)]));

const following = (one: object): string => `,${JSON.stringify(one)}`;

/** Of one piece in memory, where `+` would leave V8 a tree of thousands to walk each time. */
const joined = (pieces: readonly string[]): string => pieces.join('');
