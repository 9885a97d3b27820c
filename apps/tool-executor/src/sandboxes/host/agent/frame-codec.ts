/** Larger than any answer that the original agent sends. */
export const maximumFrameBytes = 8 * 1024 * 1024;

const headerBytes = 4;

/** Four bytes of length (big endian) and that much JSON. */
export function encodeFrame(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const frame = Buffer.allocUnsafe(headerBytes + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, headerBytes);
  return frame;
}

/** The stream is not what the original agent would send. */
export class FrameError extends Error {}

/**
 * Splits a byte stream into messages. Buffers at most one frame, and throws FrameError as soon as the stream is invalid;
 * after that it must not be used any more.
 */
export class FrameDecoder {
  private chunks: Buffer[] = [];
  private buffered = 0;

  constructor(private readonly maximumBytes = maximumFrameBytes) {}

  push(chunk: Buffer): unknown[] {
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    const messages: unknown[] = [];
    for (let length = this.nextLength(); length !== undefined; length = this.nextLength()) {
      if (this.buffered < headerBytes + length) break;
      messages.push(parse(this.take(headerBytes + length).subarray(headerBytes)));
    }
    return messages;
  }

  private nextLength(): number | undefined {
    if (this.buffered < headerBytes) return undefined;
    const length = this.front(headerBytes).readUInt32BE(0);
    if (length > this.maximumBytes) throw new FrameError(`a frame of ${length} bytes`);
    return length;
  }

  /** The first `size` bytes, contiguous. Joins buffers only when it must, so that small pieces cost no quadratic copying. */
  private front(size: number): Buffer {
    const [first] = this.chunks;
    if (first && first.length >= size) return first;
    const joined = Buffer.concat(this.chunks);
    this.chunks = [joined];
    return joined;
  }

  private take(size: number): Buffer {
    const joined = this.front(size);
    this.chunks = [joined.subarray(size), ...this.chunks.slice(1)].filter((chunk) => chunk.length > 0);
    this.buffered -= size;
    return joined.subarray(0, size);
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new FrameError('a frame that is not JSON');
  }
}
