/** The bare loop behind an HTTP server, as a separate process. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { systemPrompt } from '../system-prompt';
import { bareLoop } from './bare-loop';

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
