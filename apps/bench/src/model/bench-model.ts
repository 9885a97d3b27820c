import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { Exchange, ModelOrder, ModelReport } from './exchange';
import { type Plan, planOf } from './plan';
import { type ModelRequest, readRequest } from './request';
import { conclusion, opening, plainToken, stampedToken, toolCall } from './spoken';

/** A model server as a process of its own: it plays plans, and notes when it was asked and when it had answered. */
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
  const plan = planOf(request.modelName);
  if (plan.delayMs > 0) await sleep(plan.delayMs);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (request.turn < plan.toolTurns) response.end(toolCall(plan, request));
  else await sayLast(plan, response);
  note(request, { arrivedMs, endedMs: nowMs(), bytes: body.length });
}

function note({ tag, turn }: ModelRequest, times: Omit<Exchange, 'tag' | 'turn'>): void {
  exchanges.push({ tag, turn, ...times });
}

async function sayLast(plan: Plan, response: ServerResponse): Promise<void> {
  if (plan.held) await new Promise<void>((release) => held.add(release));
  response.write(opening + stampedToken());
  const rest = plan.tokens - 1;
  if (plan.paceMs > 0) await sayInPace(plan, response);
  else {
    for (let left = rest; left >= tokensPerWrite; left -= tokensPerWrite) {
      if (!response.write(burst)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.write(plainToken.repeat(rest % tokensPerWrite));
  }
  response.end(conclusion);
}

/** By the clock and not by the last token, so that a late one does not delay all others. */
async function sayInPace({ tokens, paceMs }: Plan, response: ServerResponse): Promise<void> {
  const beganMs = nowMs();
  for (let said = 1; said < tokens; said++) {
    await sleep(Math.max(0, beganMs + said * paceMs - nowMs()));
    response.write(stampedToken());
  }
}

function obey(order: ModelOrder): void {
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

process.on('message', obey);
process.on('disconnect', () => process.exit());
server.keepAliveTimeout = 120_000;
// A server that listens on TCP has an address of this form.
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
