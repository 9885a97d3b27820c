import type { Duplex } from 'node:stream';
import { type CommandEvent, type RequestedCommand, commandEvent } from '@rondo/contract';
import { TunnelError } from '@rondo/messaging';
import type { Caller, SandboxAddress } from '@rondo/persistence';
import type { Response } from 'express';
import type { ApiRequest } from '../auth/api-request';
import { clientSignal } from '../http/client-signal';
import type { EventFormat } from '../live/event-stream';
import type { RunWatches } from '../live/run-watches';
import { asApiError } from './sandbox-errors';
import type { SandboxService } from './sandbox-service';

interface Client {
  readonly caller: Caller;
  readonly request: ApiRequest;
  readonly response: Response;
}

/** The longest line has the end of an output, each character of it escaped. */
const longestLine = 1_000_000;

/** Commands that people run in sandboxes. */
export class CommandAccess {
  constructor(
    private readonly service: Pick<SandboxService, 'exec'>,
    private readonly watches: Pick<RunWatches, 'streamEvents'>,
  ) {}

  /** Answers once the command has started. What refuses it before is a problem; what ends it later is its last event. */
  async run(address: SandboxAddress, command: RequestedCommand, client: Client): Promise<void> {
    const tunnel = await this.service.exec(address, command, clientSignal(client.request, client.response));
    const events = readEvents(tunnel);
    const first = await events.next().catch((error: unknown) => {
      throw asApiError(error);
    });
    await this.watches.streamEvents<CommandEvent>(createFormat(), client, async (sink, signal) => {
      const left = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          tunnel.destroy();
          resolve();
        });
      });
      for await (const event of untilEnded(first, { rest: events, signal }))
        if (!sink.send(event, JSON.stringify(event))) await Promise.race([sink.waitUntilDrained(), left]);
      return signal.aborted ? 'closed' : 'ended';
    });
  }
}

function createFormat(): EventFormat<CommandEvent> {
  let isOver = false;
  const write = (event: CommandEvent, json: string) => {
    isOver = event.type === 'command.ended';
    return `event: ${event.type}\ndata: ${json}\n\n`;
  };
  return { headers: {}, opening: '', write, isOver: () => isOver };
}

/** Where the executor is lost, the end says that the outcome is unknown. */
async function* untilEnded(
  first: IteratorResult<CommandEvent, void>,
  { rest, signal }: { readonly rest: AsyncGenerator<CommandEvent, void>; readonly signal: AbortSignal },
): AsyncGenerator<CommandEvent, void> {
  let detail = 'The executor ended the connection.';
  try {
    for (let next = first; !next.done; next = await rest.next()) {
      yield next.value;
      if (next.value.type === 'command.ended') return;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof TunnelError)) throw error;
    detail = error.message;
  }
  const nothing = { exit_code: null, cwd: null, duration_ms: null, output_end: null };
  yield { type: 'command.ended', ending: 'unknown', ...nothing, detail };
}

/** A line of JSON each. What comes from an executor has passed a hostile sandbox. */
async function* readEvents(tunnel: Duplex): AsyncGenerator<CommandEvent, void> {
  const decoder = new TextDecoder();
  let line = '';
  for await (const bytes of tunnel as AsyncIterable<Uint8Array>) {
    const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n');
    line += first;
    for (const other of others) {
      yield parse(line);
      line = other;
    }
    if (line.length > longestLine) throw unreadable();
  }
}

function parse(line: string): CommandEvent {
  try {
    return commandEvent.parse(JSON.parse(line));
  } catch {
    throw unreadable();
  }
}

const unreadable = () => new TunnelError('unavailable', 'The executor answered what this version does not understand.');
