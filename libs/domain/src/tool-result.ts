import { z } from 'zod';

/** What a tool answers. A tool that fails answers too: `success: false` with the reason in `error`. */
export const toolResult = z.object({
  success: z.boolean(),
  output: z.string(),
  error: z.string().optional(),
  truncated: z.boolean().optional(),
  exit_code: z.number().int().optional(),
  image: z.object({ media_type: z.string(), data: z.base64() }).optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

export const failedResult = (error: string): ToolResult => ({ success: false, output: '', error });
