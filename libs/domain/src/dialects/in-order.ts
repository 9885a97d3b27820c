import type { DecodedCall, DecodedReply } from './dialect';

/** What a reply says and calls, each call in its place. */
export function inOrder<Block>(
  { content, calls }: Pick<DecodedReply, 'content' | 'calls'>,
  blockOf: (call: DecodedCall) => Block,
): (DecodedReply['content'][number] | Block)[] {
  const placed = new Map<number, Block[]>();
  for (const call of calls) {
    const place = call.position ?? content.length;
    const before = placed.get(place);
    if (before) before.push(blockOf(call));
    else placed.set(place, [blockOf(call)]);
  }
  const callsAt = (place: number) => placed.get(place) ?? [];
  return [...content.flatMap((block, at) => [...callsAt(at), block]), ...callsAt(content.length)];
}
