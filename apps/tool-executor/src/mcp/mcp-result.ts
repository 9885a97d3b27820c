import { type ExecutorResult, failedResult, imageHeader, largestImage } from '@rondo/contract';
import { z } from 'zod';
import { clipMiddle } from '../tools/clip-text';
import { readableLine, readableText } from './readable-text';

/** Null is absent, and so is what has another form than the protocol's. */
const lenient = <Value>(value: z.ZodType<Value>) => value.optional().catch(undefined);
const text = z.string();
const block = z.looseObject({
  type: lenient(text),
  text: lenient(text),
  data: lenient(text),
  uri: lenient(text),
  name: lenient(text),
  resource: lenient(z.looseObject({ uri: lenient(text), text: lenient(text), blob: lenient(text) })),
});
type Block = z.infer<typeof block>;

/** What a server answered to a call, as far as it can be read. */
export interface McpAnswer {
  readonly content: readonly Block[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** The call was executed, but its answer has nothing that can be read. */
export class AnswerUnreadable extends Error {
  override readonly name = 'AnswerUnreadable';
}

/** What the protocol demands of an answer is not demanded here: it says what a call has done, in whatever form. */
export function readAnswer({ content, structuredContent, isError }: Readonly<Record<string, unknown>>): McpAnswer {
  const structured = z.record(z.string(), z.unknown()).safeParse(structuredContent).data;
  const given = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(given) && !structured) throw new AnswerUnreadable('it has no content');
  const blocks = Array.isArray(given) ? given : [];
  return {
    content: blocks.map((one) => block.safeParse(one).data ?? {}),
    ...(structured && { structuredContent: structured }),
    isError: isError === true,
  };
}

/** What a tool of a server returned, for the model: its texts, its first image, and notes about what is not shown. */
export function toResult({ content, structuredContent, isError }: McpAnswer): ExecutorResult {
  const image = content.flatMap(toImage)[0];
  const parts = content.map((block) => toText(block, image));
  const isTold = parts.some((part) => part !== '');
  if (!isTold && structuredContent) parts.push(JSON.stringify(structuredContent));
  const { text, truncated } = clipMiddle(readableText(parts.filter((part) => part !== '').join('\n\n')));
  if (isError) return failedResult(text === '' ? 'The tool failed and did not say why.' : text);
  return { success: true, output: text, ...(truncated && { truncated }), ...(image && { image }) };
}

type ShownImage = NonNullable<ExecutorResult['image']>;

/** Only what its bytes prove to be an image of a known kind. */
function toImage({ type, data: given }: Block): ShownImage[] {
  if (type !== 'image' || given === undefined || given.length > (largestImage / 3) * 4) return [];
  const data = given.replace(/\s/g, '');
  const header = imageHeader(data);
  return header && isBase64(data) ? [{ media_type: header.media_type, data }] : [];
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

function toText({ type, text, data, uri, name, resource }: Block, image: ShownImage | undefined): string {
  if (type === 'image') {
    return image && image.data === data?.replace(/\s/g, '') ? '' : '[an image that is not shown]';
  }
  if (type === 'audio') return `[audio, ${countBytes(data)} bytes, not shown]`;
  if (type === 'resource_link') return `[resource ${readableLine(uri ?? '', 500)}: ${readableLine(name ?? '', 200)}]`;
  if (resource) {
    const named = `resource ${readableLine(resource.uri ?? '', 500)}`;
    return resource.text === undefined
      ? `[${named}, ${countBytes(resource.blob)} bytes, not shown]`
      : `[${named}]\n${resource.text}`;
  }
  return text ?? `[content of the type ${readableLine(type ?? 'none', 60)}, not shown]`;
}

const countBytes = (base64 = ''): number => Math.floor((base64.length * 3) / 4);
