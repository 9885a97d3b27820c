import { z } from 'zod';
import { keptImage } from './image';

/** What a tool answers. A tool that fails answers too: `success: false` with the reason in `error`. */
export const toolResult = z.object({
  success: z.boolean(),
  output: z.string(),
  error: z.string().optional(),
  truncated: z.boolean().optional(),
  exit_code: z.number().int().optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

/** As it comes from the hands: with the bytes of what is to be seen. */
export const handResult = toolResult.extend({
  image: z.object({ media_type: z.string(), data: z.base64() }).optional(),
});
export type HandResult = z.infer<typeof handResult>;

/** As it is written down: the bytes are a blob (D13). */
export const recordedResult = toolResult.extend({ image: keptImage.optional() });
export type RecordedResult = z.infer<typeof recordedResult>;

export const failedResult = (error: string): ToolResult => ({ success: false, output: '', error });
