import { z } from 'zod';
import { characterStart } from './character-start';
import { keptImage } from './image';
import { textLimits } from './text-limits';

/** The result of a tool. A failed tool has a result, too: `success: false` with the reason in `error`. */
const toolResult = z.object({
  success: z.boolean(),
  output: z.string(),
  error: z.string().optional(),
  truncated: z.boolean().optional(),
  exit_code: z.number().int().optional(),
  /** When the result was obtained, where it is one that was kept from an earlier call. */
  cached_at: z.iso.datetime().optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

/** A result from the executor, with the bytes of its image. */
export const executorResult = toolResult.extend({
  image: z.object({ media_type: z.string(), data: z.base64() }).optional(),
});
export type ExecutorResult = z.infer<typeof executorResult>;

/** A result as it is stored; the bytes of its image are a blob. */
export const recordedResult = toolResult.extend({ image: keptImage.optional() });
export type RecordedResult = z.infer<typeof recordedResult>;

export const failedResult = (error: string): ToolResult => ({ success: false, output: '', error });

/** The part of a result that is stored. Executors bound their results, too, but a worker does not trust them. */
export function boundedResult(result: RecordedResult): RecordedResult {
  const { output, error } = result;
  const isLong = output.length > textLimits.toolOutput || (error?.length ?? 0) > textLimits.toolError;
  if (!isLong) return result;
  return {
    ...result,
    output: boundedText(output, textLimits.toolOutput),
    ...(error !== undefined && { error: boundedText(error) }),
    truncated: true,
  };
}

export function boundedText(text: string, limit: number = textLimits.toolError): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, characterStart(text, limit));
  return `${kept}\n\n[… ${text.length - kept.length} characters left out …]`;
}
