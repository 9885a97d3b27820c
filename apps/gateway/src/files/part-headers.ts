import { Transform, type TransformCallback } from 'node:stream';

const endOfHeaders = '\r\n\r\n';
const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i;

/**
 * Passes on a form with tabs in place of the control characters in the headers of its parts: names of files may have some,
 * many clients send them as they are, and the parser of forms accepts tabs only. The contents are not changed.
 */
export class PlainPartHeaders extends Transform {
  private readonly delimiter: Buffer;
  /** What stands before the first part is read by no parser, so it may be taken for headers. */
  private inHeaders = true;
  /** The last bytes, which may be the beginning of what ends the headers or the content. */
  private held = Buffer.alloc(0);

  constructor(contentType: string) {
    super();
    const [, quoted, plain] = boundary.exec(contentType) ?? [];
    this.delimiter = Buffer.from(`\r\n--${quoted ?? plain ?? ''}`);
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let rest = Buffer.concat([this.held, chunk]);
    for (;;) {
      const mark = this.inHeaders ? endOfHeaders : this.delimiter;
      const at = rest.indexOf(mark);
      const isFound = at !== -1;
      const length = isFound ? at + mark.length : Math.max(0, rest.length - mark.length + 1);
      this.pass(rest.subarray(0, length));
      rest = rest.subarray(length);
      if (!isFound) break;
      this.inHeaders = !this.inHeaders;
    }
    this.held = rest;
    done();
  }

  override _flush(done: TransformCallback): void {
    this.pass(this.held);
    done();
  }

  private pass(bytes: Buffer): void {
    if (bytes.length > 0) this.push(this.inHeaders ? bytes.map(withoutControls) : bytes);
  }
}

const [tab, lineFeed, carriageReturn, space, del] = [0x09, 0x0a, 0x0d, 0x20, 0x7f];

/** Bytes above are parts of characters in UTF-8. */
function withoutControls(byte: number): number {
  const isControl = (byte < space && byte !== lineFeed && byte !== carriageReturn) || byte === del;
  return isControl ? tab : byte;
}
