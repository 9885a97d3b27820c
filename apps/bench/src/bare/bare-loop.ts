import type OpenAI from 'openai';

type Messages = OpenAI.ChatCompletionMessageParam[];

/** The baseline of all ratios: an agent loop written with the SDK alone. It stores nothing and survives nothing. */
export async function bareLoop(
  openai: OpenAI,
  { model, messages }: { model: string; messages: Messages },
  show: (text: string) => void,
): Promise<void> {
  for (;;) {
    const stream = await openai.chat.completions.create({ model, messages, tools, stream: true });
    let text = '';
    const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
    for await (const { choices } of stream) {
      const { content, tool_calls = [] } = choices[0]?.delta ?? {};
      if (content) show(content);
      text += content ?? '';
      for (const { index, id = '', function: { name = '', arguments: args = '' } = {} } of tool_calls) {
        calls[index] ??= { id, type: 'function', function: { name, arguments: '' } };
        calls[index].function.arguments += args;
      }
    }
    messages.push({ role: 'assistant', content: text || null, ...(calls.length > 0 && { tool_calls: calls }) });
    if (calls.length === 0) return;
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: answer });
  }
}

const answer = 'No command runs in the background.';
const description = 'List the sessions of the sandbox and what runs in them.';
const parameters = { type: 'object', properties: {}, additionalProperties: false };
const tools: OpenAI.ChatCompletionTool[] = [
  { type: 'function', function: { name: 'list_commands', description, parameters } },
];
