import type { DecodedCall, DecodedReply, ReplyChunk } from './dialect';

type Block = DecodedReply['content'][number];

/** Collects the text and reasoning of a reply in order. Never contains an empty block. */
export class ReplyContent {
  readonly blocks: Block[] = [];
  private open = false;

  add(type: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    const last = this.blocks.at(-1);
    if (this.open && last?.type === type) last.text += text;
    else this.blocks.push({ type, text });
    this.open = true;
  }

  /** Ends the current block, because a call follows it. */
  interrupt(): void {
    this.open = false;
  }

  /** What is opaque belongs to the reasoning before it, or represents reasoning that the provider hides. */
  seal({ opaque }: Extract<ReplyChunk, { type: 'reasoning_end' }>): void {
    const last = this.blocks.at(-1);
    if (opaque && this.open && last?.type === 'reasoning') last.opaque = opaque;
    else if (opaque) this.blocks.push({ type: 'reasoning', text: '', opaque });
    this.open = false;
  }
}

/** The content of a reply with each call at its position. */
export function contentWithCalls<CallBlock>(
  { content, calls }: Pick<DecodedReply, 'content' | 'calls'>,
  toBlock: (call: DecodedCall) => CallBlock,
): (Block | CallBlock)[] {
  const byPosition = new Map<number, CallBlock[]>();
  for (const call of calls) {
    const position = call.position ?? content.length;
    const before = byPosition.get(position);
    if (before) before.push(toBlock(call));
    else byPosition.set(position, [toBlock(call)]);
  }
  const callsAt = (position: number) => byPosition.get(position) ?? [];
  return [...content.flatMap((block, index) => [...callsAt(index), block]), ...callsAt(content.length)];
}
