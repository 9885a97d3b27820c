import type { IncomingHttpHeaders } from 'node:http';
import type { BodyReader } from './http-reply';
import { HttpReply } from './http-reply';

/** The reply to an accepted request, read as it arrives. */
export interface ReplyBody {
  readonly headers: IncomingHttpHeaders;
  /** Delivers the body to this reader, and no longer to an earlier one. */
  read(reader: BodyReader): void;
  /** Stops reading from the network. */
  pause(): void;
  resume(): void;
  /** Discards the rest of the body. */
  release(): void;
  close(): void;
}

/** The body of a response of our `fetch`, or of the response that an SDK made of it. */
export function toReplyBody(response: Response): ReplyBody {
  const body: unknown = response.body;
  return body instanceof HttpReply ? body : new StreamReply(response);
}

/** The body of a response that an SDK translated: Bedrock's frames become events. */
class StreamReply implements ReplyBody {
  readonly headers: IncomingHttpHeaders;
  private readonly reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  private paused: Promise<void> | undefined;
  private wake = () => {};

  constructor(response: Response) {
    this.headers = Object.fromEntries(response.headers);
    this.reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  }

  read(reader: BodyReader): void {
    void this.deliver(reader);
  }

  pause(): void {
    this.paused ??= new Promise((resolve) => (this.wake = resolve));
  }

  resume(): void {
    this.paused = undefined;
    this.wake();
  }

  release(): void {
    this.close();
  }

  close(): void {
    this.resume();
    this.reader?.cancel().catch(() => undefined); // it may have failed before
  }

  private async deliver(reader: BodyReader): Promise<void> {
    try {
      for (let next = await this.reader?.read(); next && !next.done; next = await this.reader?.read()) {
        reader.onData(next.value);
        await this.paused;
      }
      reader.onEnd();
    } catch (error) {
      reader.onEnd(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
