import { z } from 'zod';
import { characterStart, textLimits } from './text-limits';
import { callId, messageId } from './ids';
import { type KeptImage, keptImage } from './image';

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

const pixels = z.number().int().nonnegative();

/** What the active tab of a sandbox's browser shows after an action. */
export const browserView = z.object({
  url: z.string().max(2_000),
  title: z.string().max(500),
  /** The text on the screen, and in it the elements that can be used, numbered. */
  elements: z.string().max(20_000),
  pixels_above: pixels,
  pixels_below: pixels,
  /** How many of the elements can be used, and the size of the screen in pixels. Absent from executors of before. */
  element_count: pixels.exactOptional(),
  viewport_width: pixels.exactOptional(),
  viewport_height: pixels.exactOptional(),
  tabs: z
    .array(
      z.object({ page_id: pixels, title: z.string().max(500), url: z.string().max(2_000), is_active: z.boolean() }),
    )
    .max(20),
});
export type BrowserView = z.infer<typeof browserView>;

const imageBytes = z.object({ media_type: z.string(), data: z.base64() });

/** A result from the executor, with the bytes of its image. */
export const executorResult = toolResult.extend({
  image: imageBytes.optional(),
  browser: browserView.extend({ screenshot: imageBytes.optional() }).optional(),
});
export type ExecutorResult = z.infer<typeof executorResult>;

/** A result as it is stored; the bytes of its image are a blob. */
export const recordedResult = toolResult.extend({ image: keptImage.optional() });
export type RecordedResult = z.infer<typeof recordedResult>;

/** What a browser showed, with the screenshot as a blob. It becomes a message of its own. */
export type BrowserState = BrowserView & { readonly screenshot?: KeptImage };

/** As the loop gets it, which stores the two apart. */
export type AnsweredResult = RecordedResult & { readonly browser?: BrowserState };

export const toFailedResult = (error: string): ToolResult => ({ success: false, output: '', error });

/** The part of a result that is stored. Executors bound their results, too, but a worker does not trust them. */
export function boundResult(result: RecordedResult): RecordedResult {
  const { output, error } = result;
  const isLong = output.length > textLimits.toolOutput || (error?.length ?? 0) > textLimits.toolError;
  if (!isLong) return result;
  return {
    ...result,
    output: boundText(output, textLimits.toolOutput),
    ...(error !== undefined && { error: boundText(error) }),
    truncated: true,
  };
}

export function boundText(text: string, limit: number = textLimits.toolError): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, characterStart(text, limit));
  return `${kept}\n\n[… ${text.length - kept.length} characters left out …]`;
}

/** Tools of servers that the model is offered from its next turn on, because it found or called them. */
export const loadedTools = z.array(z.string());

/** The answer to a call: its result, and the message that tells it to the model. */
export const toolAnswer = z.object({
  tool_call_id: callId,
  name: z.string(),
  result: recordedResult,
  duration_ms: z.number().nonnegative(),
  message_id: messageId,
  /** Of a tool of the caller: the id of the API key with which it was answered. */
  answered_by: z.string().exactOptional(),
  loaded_tools: loadedTools.exactOptional(),
});
