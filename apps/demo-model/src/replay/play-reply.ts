import type { Frame, Protocol, Reply } from '../protocol';
import type { Fault } from '../script/turn';
import type { ClientConnection } from './client-connection';
import { listParts } from './parts';
import { Refusal } from '../refusal';

export interface Play {
  readonly protocol: Protocol;
  readonly reply: Reply;
  /** Set if the turn's fault applies to this attempt. */
  readonly fault: Fault | undefined;
  readonly defaultPaceMs: number;
  readonly onOutput: (chars: number) => void;
}

/** Sends a turn to the client, including its faults. Throws a Refusal for a fault that replaces the response. */
export async function playReply(play: Play, client: ClientConnection): Promise<void> {
  const { protocol, reply, fault, onOutput } = play;
  await client.wait(reply.turn.delay_ms ?? 0);
  if (fault && (fault.after_chunks === undefined || !reply.asked.stream)) await strike(fault, client, raise);

  if (reply.asked.stream) return stream(play, client);

  client.prepare(200, { 'content-type': 'application/json' });
  onOutput(listParts(reply.turn).reduce((sum, { text }) => sum + text.length, 0));
  client.end(JSON.stringify(protocol.whole(reply)));
}

async function stream({ protocol, reply, fault, ...play }: Play, client: ClientConnection): Promise<void> {
  client.prepare(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const pacer = new Pacer(client, reply.turn.pace_ms ?? play.defaultPaceMs);
  const strikesAfter = fault?.after_chunks ?? Infinity;
  let begun = false;

  for (const frame of protocol.frames(reply)) {
    if (fault && begun && pacer.pieces >= strikesAfter) {
      await pacer.flush();
      return strikeMidStream(fault, protocol, client);
    }
    await pacer.send(frame);
    if (frame.outputChars > 0) play.onOutput(frame.outputChars);
    begun = true;
  }
  await pacer.flush();
  client.end();
}

const batchChars = 16_384;

/** Sends the pieces on a schedule that a late timer does not shift; without a pace, in as few packets as possible. */
class Pacer {
  pieces = 0;
  private batch = '';
  private readonly startedMs = performance.now();

  constructor(
    private readonly client: ClientConnection,
    private readonly paceMs: number,
  ) {}

  async send(frame: Frame): Promise<void> {
    if (frame.outputChars > 0) {
      if (this.pieces > 0 && this.paceMs > 0) await this.waitForTurn();
      this.pieces += 1;
    }
    this.batch += frame.text;
    if (this.batch.length >= batchChars) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.batch === '') return;
    const text = this.batch;
    this.batch = '';
    await this.client.write(text);
  }

  private async waitForTurn(): Promise<void> {
    await this.flush();
    await this.client.wait(this.startedMs + this.pieces * this.paceMs - performance.now());
  }
}

/** `refuse` sends the error of a fault that is one. */
async function strike(fault: Fault, client: ClientConnection, refuse: (refusal: Refusal) => void): Promise<void> {
  switch (fault.kind) {
    case 'hang':
      return client.hang();
    case 'reset':
      return client.reset();
    case 'rate_limit':
    case 'server_error':
    case 'overloaded':
      refuse(refusalFor(fault.kind, fault));
  }
}

/** The status of a stream that has begun has been sent, so an error can only be sent as an event. */
const strikeMidStream = (fault: Fault, protocol: Protocol, client: ClientConnection): Promise<void> =>
  strike(fault, client, (refusal) => client.end(protocol.errorFrame(refusal)));

const raise = (refusal: Refusal): never => {
  throw refusal;
};

const sentences = {
  rate_limit: 'Rate limit reached. Please try again later.',
  server_error: 'The server had an error while processing your request.',
  overloaded: 'The model is overloaded. Please try again later.',
};

const refusalFor = (kind: keyof typeof sentences, { retry_after_s }: Fault): Refusal =>
  new Refusal(kind, sentences[kind], { retryAfterS: retry_after_s });
