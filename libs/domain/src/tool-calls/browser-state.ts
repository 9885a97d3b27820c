import type { BrowserState, NewFact, NewMessage, ToolCall } from '@rondo/contract';
import type { AnswerContext } from './call-outcome';

/**
 * The state message of the browser, which the next call of the model is shown once, and the event that announces it. The text
 * for the model leaves out the elements: the result of the call has them, and the metadata of the message too.
 */
export function browserStateFacts(context: AnswerContext, call: ToolCall, state: BrowserState): NewFact[] {
  const { iteration } = context.state;
  const { url, title, screenshot } = state;
  const shown: NewMessage['content'] = screenshot ? [{ type: 'image', source: { type: 'blob', ...screenshot } }] : [];
  const message: NewMessage = {
    id: context.ports.ids.messageId(),
    thread_id: context.run.threadId,
    run_id: context.run.id,
    iteration,
    type: 'browser_state',
    is_llm_message: false,
    content: [{ type: 'text', text: toSummary(state) }, ...shown],
    metadata: { tool_call_id: call.id, browser: state },
  };
  const about = { message_id: message.id, tool_call_id: call.id, url, title, ...(screenshot && { screenshot }) };
  return [
    { type: 'message.created', iteration, data: { message } },
    { type: 'browser.state', iteration, data: about },
  ];
}

function toSummary({ url, title, pixels_above, pixels_below, tabs }: BrowserState): string {
  const others = tabs
    .filter(({ is_active }) => !is_active)
    .map((tab) => `Other tab ${tab.page_id}: ${tab.title} ${tab.url}`);
  return [
    `URL: ${url}`,
    `Title: ${title}`,
    `Pixels above the screen: ${pixels_above}, below it: ${pixels_below}`,
    ...others,
  ].join('\n');
}
