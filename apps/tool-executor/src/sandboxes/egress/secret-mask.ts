import { Transform } from 'node:stream';

const asterisk = '*'.charCodeAt(0);

/** What must not be shown, in two orders. */
interface Needles {
  readonly longestFirst: readonly Buffer[];
  readonly byBytes: readonly Buffer[];
}

/** Replaces what must not be shown by as many asterisks, so that lengths stay what they were. */
export class SecretMask {
  private known: { readonly forms: readonly string[]; readonly needles: Needles } | undefined;

  /** Asked each time, since a value may be opened while an answer is read. The same list has the same forms. */
  constructor(private readonly listForms: () => readonly string[]) {}

  text(text: string): string {
    const bytes = Buffer.from(text, 'latin1');
    fill(bytes, this.needles);
    return bytes.toString('latin1');
  }

  /** Of a body, in pieces as they come. What may be the beginning of a value waits for the next piece. */
  stream(): Transform {
    let waiting = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        const bytes = Buffer.concat([waiting, chunk]);
        const { needles } = this;
        fill(bytes, needles);
        const keep = countBegun(bytes, needles);
        waiting = bytes.subarray(bytes.length - keep);
        pass(null, bytes.subarray(0, bytes.length - keep));
      },
      flush: (pass) => {
        fill(waiting, this.needles);
        pass(null, waiting);
      },
    });
  }

  private get needles(): Needles {
    const forms = this.listForms();
    if (this.known?.forms !== forms) this.known = { forms, needles: toNeedles(forms) };
    return this.known.needles;
  }
}

function toNeedles(forms: readonly string[]): Needles {
  const needles = [...new Set(forms)].map((form) => Buffer.from(form));
  return {
    longestFirst: needles.toSorted((one, other) => other.length - one.length),
    byBytes: needles.toSorted((one, other) => one.compare(other)),
  };
}

function fill(bytes: Buffer, { longestFirst }: Needles): void {
  for (const needle of longestFirst) {
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length))
      bytes.fill(asterisk, at, at + needle.length);
  }
}

/** How many bytes at the end are the beginning of something that is masked. */
function countBegun(bytes: Buffer, { longestFirst, byBytes }: Needles): number {
  const longest = longestFirst[0]?.length ?? 0;
  const firsts = new Set(byBytes.map(([first]) => first));
  for (let length = Math.min(longest - 1, bytes.length); length > 0; length -= 1) {
    if (firsts.has(bytes[bytes.length - length]) && begins(bytes.subarray(bytes.length - length), byBytes))
      return length;
  }
  return 0;
}

/** Those that begin with these bytes follow one another in their order, and the first of them comes next after the bytes. */
function begins(end: Buffer, byBytes: readonly Buffer[]): boolean {
  let [low, high] = [0, byBytes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end.compare(byBytes[middle] ?? end) > 0) low = middle + 1;
    else high = middle;
  }
  return byBytes[low]?.subarray(0, end.length).equals(end) === true;
}
