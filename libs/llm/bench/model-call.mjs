// What one call of a model costs its caller in CPU: through the SDK, through the SDK with a lean fetch, and as the
// adapters do it. The server is another process.
//
//   npx nx build @rondo/llm && node libs/llm/bench/model-call.mjs [calls] [history bytes] [pieces]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { leanFetch } from './lean-fetch.mjs';

const [calls, historyBytes, pieces] = [1000, 4000, 10].map((value, index) => Number(process.argv[index + 2] ?? value));
const rounds = 5;

if (process.send) serve();
else await measure();

function serve() {
  const openai = (body) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...body })}\n\n`;
  const delta = (content, finish_reason = null) =>
    openai({ choices: [{ index: 0, delta: { content }, finish_reason }] });
  const anthropic = (body) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
  const replies = {
    '/v1/chat/completions': [
      ...Array.from({ length: pieces }, () => delta('word ')),
      delta('', 'stop'),
      openai({ choices: [], usage: { prompt_tokens: 1, completion_tokens: pieces } }) + 'data: [DONE]\n\n',
    ],
    '/v1/messages': [
      anthropic({ type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      anthropic({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...Array.from({ length: pieces }, () =>
        anthropic({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } }),
      ),
      anthropic({ type: 'content_block_stop', index: 0 }) +
        anthropic({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: pieces } }) +
        anthropic({ type: 'message_stop' }),
    ],
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of replies[request.url]) response.write(piece);
      response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

async function measure() {
  const server = fork(new URL(import.meta.url), process.argv.slice(2));
  const [port] = await once(server, 'message');
  const url = `http://127.0.0.1:${port}`;
  const ways = waysTo(url);

  for (const way of Object.values(ways)) await cpuPerCall(way, Math.min(calls, 300));
  const figures = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) figures[name].push(await cpuPerCall(way, calls));
  }
  server.kill();

  console.log(
    `${rounds} rounds of ${calls} calls, history of ${historyBytes} bytes, replies of ${pieces} pieces, Node ${process.version}`,
  );
  console.table(
    Object.fromEntries(
      Object.entries(figures).map(([name, all]) => {
        const [lowest, , median, , highest] = all.toSorted((a, b) => a - b).map(Math.round);
        return [name, { 'CPU per call, µs (median)': median, lowest, highest }];
      }),
    ),
  );
}

async function cpuPerCall(way, count) {
  const before = process.cpuUsage();
  for (let call = 0; call < count; call++) await way();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function waysTo(url) {
  const { createModels } = createRequire(import.meta.url)('../dist/index.js');
  const fresh = () => new AbortController().signal;
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(23);
  const count = Math.max(1, Math.round(historyBytes / 2 / text.length));
  const turns = Array.from({ length: count }, (_, at) => [
    { role: 'user', content: `${at} ${text}` },
    { role: 'assistant', content: text },
  ]).flat();
  const messages = [...turns, { role: 'user', content: 'Go on.' }];
  const request = (model) => ({
    model,
    system: 'You are terse.',
    messages: messages.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
    tools: [],
    settings: { max_tokens: 1000 },
  });

  const provider = { apiKey: 'key', headers: {}, models: [] };
  const models = createModels({
    providers: [
      { ...provider, name: 'openai', kind: 'openai', baseUrl: `${url}/v1` },
      { ...provider, name: 'anthropic', kind: 'anthropic', baseUrl: url },
    ],
  });
  const ours = (asked) => async () => {
    for await (const chunks of models.stream(asked, fresh()))
      for (const { how, error } of chunks) if (how === 'failed') throw new Error(error.message);
  };

  const openai = (more) => new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0, ...more });
  const viaOpenAi = (client) => async () => {
    const body = { model: 'm', stream: true, messages: [{ role: 'system', content: 'You are terse.' }, ...messages] };
    for await (const chunk of await client.chat.completions.create(body, { signal: fresh() })) void chunk;
  };
  const anthropic = (more) => new Anthropic({ apiKey: 'key', baseURL: url, maxRetries: 0, ...more });
  const viaAnthropic = (client) => async () => {
    const body = { model: 'm', max_tokens: 1000, stream: true, system: 'You are terse.', messages };
    for await (const event of await client.messages.create(body, { signal: fresh() })) void event;
  };

  return {
    'openai: SDK, global fetch': viaOpenAi(openai()),
    'openai: SDK, lean fetch': viaOpenAi(openai({ fetch: leanFetch })),
    'openai: the adapter': ours(request('openai/m')),
    'anthropic: SDK, global fetch': viaAnthropic(anthropic()),
    'anthropic: SDK, lean fetch': viaAnthropic(anthropic({ fetch: leanFetch })),
    'anthropic: the adapter': ours(request('anthropic/m')),
  };
}
