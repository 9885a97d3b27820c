import { type ExecutorResult, toFailedResult, imageHeader, largestImage } from '@rondo/contract';
import { z } from 'zod';
import { clipMiddle, resultCharacters } from '../tools/clip-text';
import { readableLine, readableText } from './readable-text';

/** Null is absent, and so is what has another form than the protocol's. */
export const lenient = <Value>(value: z.ZodType<Value>) => value.optional().catch(undefined);
const text = z.string();
const block = z.looseObject({
  type: lenient(text),
  text: lenient(text),
  data: lenient(text),
  uri: lenient(text),
  name: lenient(text),
  description: lenient(text),
  mimeType: lenient(text),
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

/** Keeps bytes that no model is shown, and resolves to where they are, for the model to read. */
export type KeepBytes = (bytes: Buffer, uri: string) => Promise<string>;

/** Of one result. */
const mostKept = 20;

/** What a tool of a server returned, for the model: its texts, its first image, and notes about what is not shown. */
export async function toResult(
  { content, structuredContent, isError }: McpAnswer,
  keep: KeepBytes,
): Promise<ExecutorResult> {
  const image = content.flatMap(toImage)[0];
  let kept = 0;
  const keepSome: KeepBytes = async (bytes, uri) => (++kept > mostKept ? 'not shown' : keep(bytes, uri));
  const parts: string[] = [];
  for (const block of content) parts.push(await toText(block, image, keepSome));
  const isTold = parts.some((part) => part !== '');
  if (!isTold && structuredContent) parts.push(JSON.stringify(structuredContent));
  const { text, truncated } = clipMiddle(readableText(parts.filter((part) => part !== '').join('\n\n')));
  if (isError) return toFailedResult(text === '' ? 'The tool failed and did not say why.' : text);
  return { success: true, output: text, ...(truncated && { truncated }), ...(image && { image }) };
}

type ShownImage = NonNullable<ExecutorResult['image']>;

/** Only what its bytes prove to be an image of a known kind. */
function toImage({ type, data, resource }: Block): ShownImage[] {
  const given = type === 'image' ? data : resource?.blob;
  if (given === undefined || given.length > (largestImage / 3) * 4) return [];
  const bytes = given.replace(/\s/g, '');
  const header = imageHeader(bytes);
  return header && isBase64(bytes) ? [{ media_type: header.media_type, data: bytes }] : [];
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

const isShown = (given: string | undefined, image: ShownImage | undefined): boolean =>
  image !== undefined && image.data === given?.replace(/\s/g, '');

async function toText(block: Block, image: ShownImage | undefined, keep: KeepBytes): Promise<string> {
  const { type, text, data, resource } = block;
  if (type === 'image') return isShown(data, image) ? '' : '[an image that is not shown]';
  if (type === 'audio') return `[audio, ${countBytes(data)} bytes, not shown]`;
  if (type === 'resource_link') return toLink(block);
  if (!resource) return text ?? `[content of the type ${readableLine(type ?? 'none', 60)}, not shown]`;
  const { uri = '', text: read, blob } = resource;
  const named = `resource ${readableLine(uri, longestUri)}`;
  if (read !== undefined) return `[${named}]\n${await toWhole(read, () => keep(Buffer.from(read), uri))}`;
  if (isShown(blob, image)) return `[${named}, an image]`;
  const where = blob === undefined ? 'not shown' : await keep(Buffer.from(blob, 'base64'), uri);
  return `[${named}, ${countBytes(blob)} bytes, ${where}]`;
}

const longestUri = 2_000;

function toLink({ uri = '', name = '', description, mimeType }: Block): string {
  const about = [name, mimeType, description].flatMap((fact) => (fact === undefined ? [] : [readableLine(fact, 200)]));
  return `[resource ${readableLine(uri, longestUri)}: ${about.join(', ')}]`;
}

/** A model reads the middle of a long text from the file that has it. */
async function toWhole(text: string, keep: () => Promise<string>): Promise<string> {
  return text.length <= resultCharacters ? text : `[${text.length} characters, ${await keep()}]\n${text}`;
}

const countBytes = (base64 = ''): number => Buffer.byteLength(base64, 'base64');
