import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const digits = Array.from(alphabet);
const pairs = digits.flatMap((first) => digits.map((second) => first + second));
const half = 2 ** 40;

const chance = Buffer.alloc(4_000);
const chancePerUlid = 10;
let chanceTaken = chance.length;

let lastMs = 0;
let timePart = '';
let high = 0;
let highPart = '';
let low = 0;

/**
 * A ULID: 10 characters of time, 16 random ones. Those of one process sort in the order of creation, also within a
 * millisecond and when the clock is set back.
 */
export function newUlid(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) begin(nowMs);
  else advance();
  return timePart + highPart + encode(low, 8);
}

function begin(nowMs: number): void {
  if (chanceTaken === chance.length) {
    randomFillSync(chance);
    chanceTaken = 0;
  }
  lastMs = nowMs;
  timePart = encode(nowMs, 10);
  high = chance.readUIntBE(chanceTaken, 5) % (half / 2); // half the range is left for counting up
  highPart = encode(high, 8);
  low = chance.readUIntBE(chanceTaken + 5, 5);
  chanceTaken += chancePerUlid;
}

function advance(): void {
  low += 1;
  if (low < half) return;
  low = 0;
  high += 1;
  highPart = encode(high, 8);
}

/** When a ULID was made, in milliseconds since 1970. NaN where the text does not begin with one's time. */
export function ulidMs(ulid: string): number {
  const time = Array.from(ulid.slice(0, 10), (digit) => alphabet.indexOf(digit));
  if (time.length < 10 || time.includes(-1)) return NaN;
  return time.reduce((ms, digit) => ms * digits.length + digit, 0);
}

/** Two characters at a time: ids are made for every fact. */
function encode(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 1024))
    text = `${pairs[rest % 1024] ?? ''}${text}`;
  return text;
}
