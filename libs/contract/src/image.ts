import { z } from 'zod';
import { textLimits } from './text-limits';
import { type ImageMediaType, type ImageSize, imageHeader, imageMediaType } from './image-header';

/** The SHA-256 of the bytes, which names a blob. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
  .brand<'Sha256'>();
export type Sha256 = z.infer<typeof sha256>;

/** An image in a message or a result. Its bytes are a blob of the account, so that copies of the message do not repeat them. */
export const keptImage = z.strictObject({
  sha256,
  media_type: imageMediaType,
  width: z.number().int().positive(),
  height: z.number().int().positive(),
});
export type KeptImage = z.infer<typeof keptImage>;

const maxMebibytes = 5;
/** Bytes. */
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

/** An image with its bytes, before they become a blob. Media type and size were read from the bytes. */
export const inlineImage = z.strictObject(inline).transform(measureImage);
export type InlineImage = z.infer<typeof inlineImage>;

const blobSource = z.strictObject({ type: z.literal('blob'), ...keptImage.shape });
const urlSource = z.strictObject({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) });
const base64Source = z.strictObject({ type: z.literal('base64'), ...inline }).transform(measureImage);

/** The location of an image in a message. */
export const keptSource = z.discriminatedUnion('type', [blobSource, urlSource]);
export type KeptSource = z.infer<typeof keptSource>;

/** The image of a user input. A blob must be stored for the account already. */
const givenUrl = urlSource.extend({
  url: urlSource.shape.url
    .max(textLimits.url)
    .describe(
      `Fetched once, by Rondo and not by the model provider, before the model is asked: from public addresses only, ${maxMebibytes} MiB at most, PNG, JPEG, GIF or WebP. Where that fails, the model is told so instead.`,
    ),
});
export const givenSource = z.discriminatedUnion('type', [base64Source, givenUrl, blobSource]);

function measureImage<Image extends { media_type: ImageMediaType; data: string }>(
  image: Image,
  context: z.RefinementCtx,
): Image & ImageSize {
  const header = imageHeader(image.data);
  if (header?.media_type === image.media_type) return { ...image, width: header.width, height: header.height };

  if (header) context.addIssue({ code: 'custom', path: ['media_type'], message: `the bytes are ${header.media_type}` });
  else context.addIssue({ code: 'custom', path: ['data'], message: 'must be a PNG, JPEG, GIF or WebP image' });
  return z.NEVER;
}
