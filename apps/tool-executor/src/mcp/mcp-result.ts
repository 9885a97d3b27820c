import { type ExecutorResult, failedResult, imageHeader, largestImage } from '@rondo/contract';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { clipMiddle } from '../tools/clip-text';
import { readableLine, readableText } from './readable-text';

/** What a tool of a server returned, for the model: its texts, its first image, and notes about what is not shown. */
export function resultOf({ content, structuredContent, isError }: CallToolResult): ExecutorResult {
  const image = content.flatMap(imageOf)[0];
  const parts = content.map((block) => textOf(block, image));
  const isTold = parts.some((part) => part !== '');
  if (!isTold && structuredContent) parts.push(JSON.stringify(structuredContent));
  const { text, truncated } = clipMiddle(readableText(parts.filter((part) => part !== '').join('\n\n')));
  if (isError === true) return failedResult(text === '' ? 'The tool failed and did not say why.' : text);
  return { success: true, output: text, ...(truncated && { truncated }), ...(image && { image }) };
}

type ShownImage = NonNullable<ExecutorResult['image']>;

/** Only what its bytes prove to be an image of a known kind. */
function imageOf(block: ContentBlock): ShownImage[] {
  if (block.type !== 'image' || block.data.length > (largestImage / 3) * 4) return [];
  const data = block.data.replace(/\s/g, '');
  const header = imageHeader(data);
  return header && isBase64(data) ? [{ media_type: header.media_type, data }] : [];
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);

function textOf(block: ContentBlock, image: ShownImage | undefined): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return image && image.data === block.data.replace(/\s/g, '') ? '' : '[an image that is not shown]';
    case 'audio':
      return `[audio, ${bytesOf(block.data)} bytes, not shown]`;
    case 'resource_link':
      return `[resource ${readableLine(block.uri, 500)}: ${readableLine(block.name, 200)}]`;
    case 'resource': {
      const { resource } = block;
      const uri = readableLine(resource.uri, 500);
      return 'text' in resource
        ? `[resource ${uri}]\n${resource.text}`
        : `[resource ${uri}, ${bytesOf(resource.blob)} bytes, not shown]`;
    }
  }
}

const bytesOf = (base64: string): number => Math.floor((base64.length * 3) / 4);
