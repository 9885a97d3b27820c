import type { RecordedFact } from '@rondo/contract';
import type { Caller, RunAddress } from '@rondo/persistence';
import type { Response } from 'express';
import type { EventFormat } from '../../live/event-stream';
import type { RunWatches } from '../../live/run-watches';
import type { RunService } from '../../runs/run-service';
import { stopWithClient } from '../stop-with-client';
import type { BegunResponse } from './openai-responses';
import { type Frame, type ResponseOptions, ResponseTranslator, skipTo } from './openai.translate';

export interface Reader {
  readonly caller: Caller;
  readonly response: Response;
}

type Shown = Pick<BegunResponse, 'options' | 'begun'>;

/** How long a stop is awaited before its response is shown as it is then. */
const stopS = 10;
/** How long the text that is being written is awaited. */
const openTextMs = 300;

/** Requests that last as long as a response is written. */
export class ResponseReader {
  constructor(
    private readonly watches: RunWatches,
    private readonly service: Pick<RunService, 'stop'>,
  ) {}

  stopWithClient({ run }: BegunResponse, reader: Reader): void {
    stopWithClient(this.service, run.id, reader);
  }

  /** The events after a position. */
  stream(shown: Shown, reader: Reader, startingAfter: number): Promise<void> {
    const translator = new ResponseTranslator(shown.options);
    const write = (frames: readonly Frame[]) => skipTo(startingAfter, frames).map(toEvent).join('');
    const format = toFormat(translator, { open: () => write(translator.begin()), write, close: '' });
    return this.send(format, shown, reader);
  }

  send(format: EventFormat, { options, begun }: Shown, { caller, response }: Reader): Promise<void> {
    const { runId, after } = options;
    return this.watches.streamAs(format, { accountId: caller.accountId, runId }, { caller, response, after, begun });
  }

  /** Resolves when the response is over. */
  async readWhole(options: ResponseOptions, reader: Reader): Promise<ResponseTranslator> {
    return this.read(options, { ...reader, after: options.after });
  }

  /** Resolves to what there is of it by now, with the text that is being written. */
  async readOpen(options: ResponseOptions, reader: Reader): Promise<ResponseTranslator> {
    return this.read(options, { ...reader, after: options.after, atMostMs: openTextMs });
  }

  private async read(
    options: ResponseOptions,
    reading: Reader & { readonly after: number; readonly atMostMs?: number },
  ): Promise<ResponseTranslator> {
    const translator = new ResponseTranslator(options);
    const address = { accountId: reading.caller.accountId, runId: options.runId };
    await this.watches.readUntil(address, reading, (event) => {
      translator.translate(event);
      return translator.isOver;
    });
    return translator;
  }

  /** Resolves when the run is over, or is not soon. */
  async stop(address: RunAddress, { caller, response }: Reader): Promise<void> {
    await this.service.stop(address, 'cancelled by the client');
    await this.watches.wait(address, { caller, response, timeoutS: stopS });
  }
}

/** The response as its facts have it. */
export function replay(options: ResponseOptions, facts: readonly RecordedFact[]): ResponseTranslator {
  const translator = new ResponseTranslator(options);
  for (const fact of facts) if (fact.seq > options.after) translator.translate(fact);
  return translator;
}

const toEvent = (frame: Frame): string => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;
export const toData = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

interface Wire {
  readonly open: () => string;
  readonly write: (frames: readonly Frame[]) => string;
  /** After the last frame. */
  readonly close: string;
}

export function toFormat(translator: ResponseTranslator, { open, write, close }: Wire): EventFormat {
  return {
    headers: {},
    opening: open(),
    write: (event) => {
      const text = write(translator.translate(event));
      return translator.isOver && text !== '' ? `${text}${close}` : text;
    },
    isOver: () => translator.isOver,
  };
}
