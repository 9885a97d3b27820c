import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs, stamp } from '../clock';
import type { Exchange, ModelCommand, ModelReport } from './exchange';
import { type Plan, toPlan } from './plan';
import { type ModelRequest, readRequest } from './request';

/** Answers in OpenAI's wire protocol, serialized in advance, because the model must take less CPU than its clients. */
const begin =
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench","choices":[{"index":0,"delta":';
const chunk = (delta: object): string =>
  `${begin}${JSON.stringify(delta)},"logprobs":null,"finish_reason":null}],"usage":null}\n\n`;
const ending = (finishReason: string): string =>
  `${begin}{},"logprobs":null,"finish_reason":"${finishReason}"}],"usage":null}\n\n` +
  'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1790000000,"model":"bench","choices":[],' +
  '"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}\n\ndata: [DONE]\n\n';

const opening = chunk({ role: 'assistant', content: '', refusal: null });
const conclusion = ending('stop');
const plainToken = chunk({ content: 'token ' });

const stampToken = (): string => chunk({ content: stamp() });

function toolCall(plan: Plan, { tag, turn }: { tag: string; turn: number }): string {
  const function_ = { name: plan.tool, arguments: JSON.stringify(toArguments(plan, `${tag}-${turn}`)) };
  const call = { index: 0, id: `call_${tag}_${turn}`, type: 'function', function: function_ };
  return chunk({ role: 'assistant', content: null, tool_calls: [call] }) + ending('tool_calls');
}

function toArguments({ tool, toolMs }: Plan, effect: string): object {
  switch (tool) {
    case 'list_commands':
      return {};
    case 'ask':
      return { text: 'Which one?' };
    case 'execute_command':
      return { command: `sleep ${toolMs / 1000}; echo ${effect} >> effects`, blocking: true };
  }
}

/** A model server in a process of its own. It answers by plan, and records when requests arrive and answers end. */
const tokensPerWrite = 64;
const burst = plainToken.repeat(tokensPerWrite);

let exchanges: Exchange[] = [];
const held = new Set<() => void>();

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => void answer(Buffer.concat(parts), response));
});

async function answer(body: Buffer, response: ServerResponse): Promise<void> {
  const arrivedMs = nowMs();
  const request = readRequest(body);
  const plan = toPlan(request.modelName);
  if (plan.delayMs > 0) await sleep(plan.delayMs);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (request.turn < plan.toolTurns) response.end(toolCall(plan, request));
  else await sendAnswer(plan, response);
  note(request, { arrivedMs, endedMs: nowMs(), bytes: body.length });
}

function note({ tag, turn }: ModelRequest, times: Omit<Exchange, 'tag' | 'turn'>): void {
  exchanges.push({ tag, turn, ...times });
}

async function sendAnswer(plan: Plan, response: ServerResponse): Promise<void> {
  if (plan.held) await new Promise<void>((release) => held.add(release));
  response.write(opening + stampToken());
  const rest = plan.tokens - 1;
  if (plan.paceMs > 0) await sendPaced(plan, response);
  else {
    for (let left = rest; left >= tokensPerWrite; left -= tokensPerWrite) {
      if (!response.write(burst)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.write(plainToken.repeat(rest % tokensPerWrite));
  }
  response.end(conclusion);
}

/** Schedules tokens from the start of the answer, so that one late token does not delay the others. */
async function sendPaced({ tokens, paceMs }: Plan, response: ServerResponse): Promise<void> {
  const beganMs = nowMs();
  for (let said = 1; said < tokens; said++) {
    await sleep(Math.max(0, beganMs + said * paceMs - nowMs()));
    response.write(stampToken());
  }
}

function handle(order: ModelCommand): void {
  const report: ModelReport = { exchanges: order === 'report' ? exchanges : [], held: held.size };
  switch (order) {
    case 'report':
      exchanges = [];
      break;
    case 'release':
      for (const release of held) release();
      held.clear();
      break;
    case 'count held':
      break;
  }
  process.send?.(report);
}

process.on('message', handle);
process.on('disconnect', () => process.exit());
server.keepAliveTimeout = 120_000;
// A server that listens on TCP has an address of this form.
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
