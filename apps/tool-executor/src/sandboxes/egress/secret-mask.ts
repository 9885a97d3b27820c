import { Transform } from 'node:stream';

const asterisk = '*'.charCodeAt(0);

/** How a host may write back what it was sent. */
export const toForms = (value: string, username?: string): readonly string[] => {
  const base64 = Buffer.from(value).toString('base64');
  const forms = [
    ...[value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), base64, base64.replace(/=+$/, '')],
    Buffer.from(value).toString('base64url'),
    ...(username === undefined ? [] : [Buffer.from(`${username}:${value}`).toString('base64')]),
  ];
  return [...new Set(forms)];
};

/** Replaces what must not be shown by as many asterisks, so that lengths stay what they were. */
export class SecretMask {
  private readonly needles: readonly Buffer[];
  private readonly longest: number;

  constructor(forms: readonly string[]) {
    this.needles = [...new Set(forms)].map((form) => Buffer.from(form)).sort((one, other) => other.length - one.length);
    this.longest = this.needles[0]?.length ?? 0;
  }

  get isEmpty(): boolean {
    return this.needles.length === 0;
  }

  text(text: string): string {
    const bytes = Buffer.from(text, 'latin1');
    this.fill(bytes);
    return bytes.toString('latin1');
  }

  /** Of a body, in pieces as they come. What may be the beginning of a value waits for the next piece. */
  stream(): Transform {
    let waiting = Buffer.alloc(0);
    return new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        const bytes = Buffer.concat([waiting, chunk]);
        this.fill(bytes);
        const keep = this.begun(bytes);
        waiting = bytes.subarray(bytes.length - keep);
        pass(null, bytes.subarray(0, bytes.length - keep));
      },
      flush: (pass) => pass(null, waiting),
    });
  }

  private fill(bytes: Buffer): void {
    for (const needle of this.needles) {
      for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length))
        bytes.fill(asterisk, at, at + needle.length);
    }
  }

  /** How many bytes at the end are the beginning of something that is masked. */
  private begun(bytes: Buffer): number {
    for (let length = Math.min(this.longest - 1, bytes.length); length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length);
      if (this.needles.some((needle) => needle.length > length && needle.subarray(0, length).equals(end)))
        return length;
    }
    return 0;
  }
}
