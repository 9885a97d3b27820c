import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { JournalLine, RequestJournal } from './journal/request-journal';
import type { ViolationLog } from './journal/violation-log';
import { ClientConnection, ClientGone } from './replay/client-connection';
import { conversationKey } from './replay/parts';
import { playReply } from './replay/play-reply';
import type { PromptCache } from './replay/prompt-cache';
import { promptTokens, toUsage } from './replay/token-estimate';
import type { Asked, Protocol } from './protocol';
import { ContextOverflow, Refusal, Violation } from './refusal';
import { toReply } from './script-catalog';
import { toMessage } from '@rondo/platform';
import type { Fault } from './script/turn';

interface Books {
  readonly journal: RequestJournal;
  readonly violations: ViolationLog;
  readonly faults: FaultCounter;
  readonly cache: PromptCache;
}

/** The endpoint of a protocol: reads and validates a request, plays its script's reply and records what happened. */
export class ModelEndpoint {
  constructor(
    private readonly protocol: Protocol,
    private readonly books: Books,
    private readonly defaultPaceMs: number,
  ) {}

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, url: path = '' } = request;
    const line = this.books.journal.open({ protocol: this.protocol.name, path, headers });
    const client = new ClientConnection(response, () => line.hungUp());
    response.once('close', () => line.recordEnd(response.headersSent ? response.statusCode : null));

    try {
      const body = await readBody(request);
      line.recordBody(body);
      const asked = this.judge(body, headers);
      line.understood(asked.model, asked.messages);
      await this.play(asked, client, line);
    } catch (error) {
      if (error instanceof ClientGone) return;
      this.refuse(error instanceof Refusal ? error : toRefusal(error), client);
    }
  }

  private judge(body: Buffer, headers: IncomingHttpHeaders): Asked {
    if (keyIn(headers) === 'invalid') throw new Refusal('authentication', 'Incorrect API key provided: invalid.');
    try {
      return this.protocol.read(parseJson(body), headers);
    } catch (error) {
      if (error instanceof Violation) this.books.violations.add(this.protocol.name, error, body);
      throw error;
    }
  }

  private async play(asked: Asked, client: ClientConnection, line: JournalLine): Promise<void> {
    const turn = toReply(asked.model, asked.conversation);
    const tokens = promptTokens(asked);
    if (turn.context_limit !== undefined && tokens > turn.context_limit) {
      throw new ContextOverflow(tokens, turn.context_limit);
    }
    const key = conversationKey(asked.model, asked.conversation);
    const struck = turn.fault && this.books.faults.strikes(key, turn.fault);
    await playReply(
      {
        protocol: this.protocol,
        reply: { key, asked, turn, usage: toUsage(turn, asked, this.books.cache.read(asked.model, asked.prompt)) },
        fault: struck ? turn.fault : undefined,
        defaultPaceMs: this.defaultPaceMs,
        onOutput: (chars) => line.recordSent(chars),
      },
      client,
    );
  }

  private refuse(refusal: Refusal, client: ClientConnection): void {
    const { status, headers, body } = this.protocol.error(refusal);
    client.replace(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
  }
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key'];
  return typeof own === 'string' ? own : headers.authorization?.replace(/^Bearer /i, '');
}

function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text, mayHaveHalves.test(text) ? wellFormed : undefined);
  } catch {
    throw new Violation('We could not parse the JSON body of your request.');
  }
}

/** Pairs of surrogates need no escapes, so few requests have any. */
const mayHaveHalves = /\\ud[89a-f]/i;

/** Throws at half of a surrogate pair: parsers of other languages refuse the whole request. */
function wellFormed(key: string, value: unknown): unknown {
  if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    throw new SyntaxError('no low surrogate');
  return value;
}

const toRefusal = (error: unknown): Refusal => new Refusal('server_error', toMessage(error));

const maxBytes = 32 * 1024 * 1024;

/** Reads to the end even if the body is too long, because a client that is still sending does not read the answer. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw new Refusal('too_large', `The request exceeds ${maxBytes} bytes.`);
  return Buffer.concat(chunks);
}

const capacity = 10_000;

/**
 * Counts the failed attempts of each conversation. It is the only state that replies depend on. A successful attempt
 * resets the count, so that the same conversation meets the same faults the next time. Two runs with the same
 * conversation at the same time share a count.
 */
export class FaultCounter {
  private readonly struck = new Map<string, number>();

  strikes(key: string, { times = Infinity }: Fault): boolean {
    const before = this.struck.get(key) ?? 0;
    this.struck.delete(key);
    if (before >= times) return false;

    this.struck.set(key, before + 1);
    this.forgetOldest();
    return true;
  }

  private forgetOldest(): void {
    const [oldest] = this.struck.keys();
    if (this.struck.size > capacity && oldest !== undefined) this.struck.delete(oldest);
  }
}
