import type { FinishReason } from '@rondo/contract';

/** Model calls that do not end a reply: a continuation, repair, shorter request or other model follows, or the summarizer made the call. */
export const isReplyOpenAfter = (finishReason: string): boolean =>
  ['continued', 'malformed', 'overflow', 'fell_back', 'summary'].includes(finishReason);

/** The finish reason of an iteration, by that of its model call. */
export const asFinishReason = (reason: string): FinishReason =>
  reason === 'length' || reason === 'xml_tool_limit_reached' ? reason : 'stop';
