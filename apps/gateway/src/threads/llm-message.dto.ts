import { callId, contentBlock, keptSource, userContent } from '@rondo/contract';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';

const [textBlock] = contentBlock.options;

const llmCall = z.strictObject({
  type: z.literal('tool_call'),
  id: callId,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

const llmToolResult = z.strictObject({
  tool_call_id: callId,
  text: z.string(),
  is_error: z.boolean(),
  image: keptSource.exactOptional(),
});

const llmUserMessage = z.strictObject({ role: z.literal('user'), content: userContent });

const llmAssistantMessage = z.strictObject({
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [textBlock, llmCall])),
});

const llmToolMessage = z.strictObject({
  role: z.literal('tool'),
  results: z.array(llmToolResult).describe('Of all calls of the message before, in their order.'),
});

const llmMessage = z.discriminatedUnion('role', [llmUserMessage, llmAssistantMessage, llmToolMessage]);

export class LlmMessageListDto extends createZodDto(z.object({ data: z.array(llmMessage) })) {}

/** What the API documents call them. */
export const llmMessageSchemas = {
  LlmMessage: llmMessage,
  LlmUserMessage: llmUserMessage,
  LlmAssistantMessage: llmAssistantMessage,
  LlmToolMessage: llmToolMessage,
  LlmToolCall: llmCall,
  LlmToolResult: llmToolResult,
  LlmMessageList: LlmMessageListDto.schema,
};
