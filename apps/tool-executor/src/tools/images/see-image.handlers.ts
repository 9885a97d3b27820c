import { type ExecutorResult, toFailedResult, imageHeader, largestImage } from '@rondo/contract';
import { Unreadable } from '../../parsing/parser';
import { wholeFile } from '../../sandboxes/provider/workspace-file';
import { aboutFile } from '../files/about-file';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { withinTime } from '../within-time';

const largestOriginal = 10 * 1024 * 1024;
const shown = { width: 1920, height: 1080, pixels: 50_000_000, maxBytes: largestImage } as const;

/** The result has the image, which the worker stores and shows to the model in its next call. */
export const seeImage: ToolHandler<ToolInput<'see_image'>> = {
  handle: ({ file_path }, context) =>
    aboutFile(file_path, async (path) => {
      const bytes = await wholeFile(context.sandbox.files, path, largestOriginal);
      if (!bytes) return toFailedResult(`${path} is larger than ${largestOriginal / 1024 / 1024} MB.`);
      if (!imageHeader(bytes.toString('base64')))
        return toFailedResult(`${path} is not a JPEG, PNG, GIF or WebP image.`);
      return withinTime(context, async (signal) => {
        try {
          const image = await context.services.parser.parse({ kind: 'image', ...shown }, bytes, signal);
          return toResult(path, bytes.length, image);
        } catch (error) {
          if (error instanceof Unreadable) return toFailedResult(`${path} cannot be shown: ${error.message}.`);
          throw error;
        }
      });
    }),
};

interface ShownImage {
  readonly originalWidth: number;
  readonly originalHeight: number;
  readonly bytes: Buffer;
}

function toResult(path: string, size: number, { originalWidth, originalHeight, bytes }: ShownImage): ExecutorResult {
  const text = `${path}: ${originalWidth} x ${originalHeight} pixels, ${size} bytes; shown with ${bytes.length} bytes.`;
  return { ...toSuccess(text), image: { media_type: 'image/jpeg', data: bytes.toString('base64') } };
}
