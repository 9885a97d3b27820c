import { Transform } from 'node:stream';
import { Needles } from './needles';

const asterisk = '*'.charCodeAt(0);

/** Replaces what must not be shown by as many asterisks, so that lengths stay what they were. */
export class SecretMask {
  private known: { readonly forms: readonly string[]; readonly needles: Needles } | undefined;

  /** Asked each time, since a value may be opened while an answer is read. The same list has the same forms. */
  constructor(private readonly listForms: () => readonly string[]) {}

  text(text: string): string {
    const bytes = Buffer.from(text, 'latin1');
    this.fill(bytes, { isEnd: true });
    return bytes.toString('latin1');
  }

  /** Of a body, in pieces as they come. What may be the beginning of a value waits for the next piece. */
  stream(): Transform {
    let waiting = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        const bytes = Buffer.concat([waiting, chunk]);
        const done = this.fill(bytes, { isEnd: false });
        waiting = bytes.subarray(done);
        pass(null, bytes.subarray(0, done));
      },
      flush: (pass) => {
        this.fill(waiting, { isEnd: true });
        pass(null, waiting);
      },
    });
  }

  /** Returns how many bytes are decided: the rest may be the beginning of a value, unless this is the end. */
  private fill(bytes: Buffer, { isEnd }: { readonly isEnd: boolean }): number {
    const { needles } = this;
    for (let at = needles.findPlace(bytes, 0); at < bytes.length;) {
      const { length, isBegun } = needles.findAt(bytes, at);
      if (isBegun && !isEnd) return at;
      bytes.fill(asterisk, at, at + length);
      at = needles.findPlace(bytes, at + Math.max(1, length));
    }
    return bytes.length;
  }

  private get needles(): Needles {
    const forms = this.listForms();
    if (this.known?.forms !== forms) this.known = { forms, needles: new Needles(forms) };
    return this.known.needles;
  }
}
