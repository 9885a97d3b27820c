import { z } from 'zod';
import { textLimits } from './text-limits';
import { type ImageMediaType, type ImageSize, imageHeader, imageMediaType } from './image-header';

/** Names bytes by what they are. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
  .brand<'Sha256'>();
export type Sha256 = z.infer<typeof sha256>;

/** What a message or a result holds of an image whose bytes are a blob of its account. Bytes in a message would be sent and stored again with every copy of it. */
export const keptImage = z.strictObject({
  sha256,
  media_type: imageMediaType,
  width: z.number().int().positive(),
  height: z.number().int().positive(),
});
export type KeptImage = z.infer<typeof keptImage>;

const maxMebibytes = 5;
/** In bytes. */
export const largestImage = maxMebibytes * 1024 * 1024;
const padding = (base64: string): number => (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
const bytesIn = (base64: string): number => (base64.length / 4) * 3 - padding(base64);

const inline = {
  media_type: imageMediaType,
  data: z
    .base64()
    .refine((data) => bytesIn(data) <= largestImage, `must be ${maxMebibytes} MiB at most`)
    .describe(`The bytes, ${maxMebibytes} MiB at most.`),
};

/** An image with its bytes, on its way to become a blob. They were looked at: it is what it says, and so large. */
export const inlineImage = z.strictObject(inline).transform(measured);
export type InlineImage = z.infer<typeof inlineImage>;

const blobSource = z.strictObject({ type: z.literal('blob'), ...keptImage.shape });
const urlSource = z.strictObject({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) });
const base64Source = z.strictObject({ type: z.literal('base64'), ...inline }).transform(measured);

/** Where an image of a message is; its bytes are never in the message. */
export const keptSource = z.discriminatedUnion('type', [blobSource, urlSource]);
export type KeptSource = z.infer<typeof keptSource>;

/** What a person may give as an image; a blob is one that the person was given before. */
const givenUrl = urlSource.extend({
  url: urlSource.shape.url
    .max(textLimits.url)
    .describe(
      `Fetched once, by Rondo and not by the model provider, before the model is asked: from public addresses only, ${maxMebibytes} MiB at most, PNG, JPEG, GIF or WebP. Where that fails, the model is told so instead.`,
    ),
});
export const givenSource = z.discriminatedUnion('type', [base64Source, givenUrl, blobSource]);

function measured<Image extends { media_type: ImageMediaType; data: string }>(
  image: Image,
  context: z.RefinementCtx,
): Image & ImageSize {
  const header = imageHeader(image.data);
  if (header?.media_type === image.media_type) return { ...image, width: header.width, height: header.height };

  if (header) context.addIssue({ code: 'custom', path: ['media_type'], message: `the bytes are ${header.media_type}` });
  else context.addIssue({ code: 'custom', path: ['data'], message: 'must be a PNG, JPEG, GIF or WebP image' });
  return z.NEVER;
}

/** The bytes of images, as base64. A blob that is not there is not in the answer. */
export interface Blobs {
  read(blobs: readonly Sha256[]): Promise<ReadonlyMap<Sha256, string>>;
}
