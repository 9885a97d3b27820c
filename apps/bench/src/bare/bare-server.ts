/** The bare loop behind an HTTP server, as a separate process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { systemPrompt } from '../model/request';

export interface BareRequest {
  readonly model: string;
  readonly input: string;
  /** The name under which the conversation is kept in memory; it is not kept if this is empty. */
  readonly thread: string;
}

const [, , baseURL] = process.argv;
const openai = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
const threads = new Map<string, OpenAI.ChatCompletionMessageParam[]>();

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    const { model, input, thread } = JSON.parse(body) as BareRequest; // our own client wrote it
    const messages = threads.get(thread) ?? [{ role: 'system', content: systemPrompt }];
    if (thread !== '') threads.set(thread, messages);
    messages.push({ role: 'user', content: input });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const show = (text: string) => response.write(`data: ${JSON.stringify({ type: 'text', text })}\n\n`);
    void bareLoop(openai, { model, messages }, show).then(() => response.end());
  });
});

process.on('disconnect', () => process.exit());
server.keepAliveTimeout = 120_000;
// A server that listens on TCP has an address of this form.
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

type Messages = OpenAI.ChatCompletionMessageParam[];

/** The baseline of all ratios: an agent loop written with the SDK alone. It stores nothing and survives nothing. */
async function bareLoop(
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
