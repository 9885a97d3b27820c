import type { IncomingHttpHeaders } from 'node:http';
import { tokensIn } from '../replay/token-estimate';
import { Ring } from './ring';

/** A request as the provider saw it. Each time is given as ISO 8601 and as monotonic milliseconds. */
export interface JournalEntry {
  readonly protocol: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly arrived_at: string;
  /** Monotonic time; only differences are meaningful. */
  readonly arrived_ms: number;
  body: string;
  model: string | null;
  messages: number | null;
  status: number | null;
  tokens_sent: number;
  ended_at: string | null;
  ended_ms: number | null;
  /** Set if the client disconnected before it had the whole answer. */
  closed_by_client_at: string | null;
}

const capacity = 500;
const bodyBytes = 16_384;
const secretHeaders = ['authorization', 'x-api-key', 'cookie'];

/** The newest requests, for tests that ask what reached the provider and when a stream was closed. */
export class RequestJournal {
  private readonly ring = new Ring<JournalEntry>(capacity);

  open(request: { protocol: string; path: string; headers: IncomingHttpHeaders }): JournalLine {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !secretHeaders.includes(name)),
    );
    const entry: JournalEntry = {
      protocol: request.protocol,
      path: request.path,
      headers,
      arrived_at: new Date().toISOString(),
      arrived_ms: performance.now(),
      body: '',
      model: null,
      messages: null,
      status: null,
      tokens_sent: 0,
      ended_at: null,
      ended_ms: null,
      closed_by_client_at: null,
    };
    this.ring.push(entry);
    return new JournalLine(entry);
  }

  list(limit: number) {
    return { total: this.ring.total, data: this.ring.newest(limit) };
  }

  clear(): void {
    this.ring.clear();
  }
}

/** One entry while its request is being answered. */
export class JournalLine {
  private charsSent = 0;

  constructor(private readonly entry: JournalEntry) {}

  recordBody(body: Buffer): void {
    this.entry.body = body.toString('utf8', 0, bodyBytes);
  }

  understood(model: string, messages: number): void {
    this.entry.model = model;
    this.entry.messages = messages;
  }

  recordSent(chars: number): void {
    this.charsSent += chars;
    this.entry.tokens_sent = tokensIn(this.charsSent);
  }

  recordEnd(status: number | null): void {
    this.entry.status = status;
    this.entry.ended_at = new Date().toISOString();
    this.entry.ended_ms = performance.now();
  }

  hungUp(): void {
    this.entry.closed_by_client_at = new Date().toISOString();
  }
}
