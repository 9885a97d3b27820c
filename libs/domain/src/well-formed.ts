/**
 * Half of a surrogate pair is no character: as JSON it becomes an escape that strict providers refuse, so that one of them
 * in a message would end every later run of its thread. It is replaced by U+FFFD where text enters, and again where a
 * request is built, for threads that have one already.
 */
export const wellFormedText = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

/** The same JSON value with well-formed texts and keys; the value itself if they are. */
export function wellFormed<Value>(value: Value): Value {
  return mendValue(value) as Value; // only characters differ
}

function mendValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormedText(value);
  if (Array.isArray(value)) return value.every(isWellFormed) ? value : value.map(mendValue);
  if (typeof value !== 'object' || value === null || isWellFormed(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [wellFormedText(key), mendValue(one)]));
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value)
    ? value.every(isWellFormed)
    : Object.entries(value).every(([key, one]) => key.isWellFormed() && isWellFormed(one));
}

const isHighSurrogate = (text: string): boolean => /[\ud800-\udbff]$/.test(text);

/** Makes texts well-formed that arrive in pieces: a pair that is split between two pieces stays one character. */
export class WholeCharacters {
  private readonly halves = new Map<string, string>();

  /** The next piece of a stream, without the half of a character that its end may hold. */
  next(stream: string, piece: string): string {
    const half = this.halves.get(stream);
    if (half === undefined && piece.isWellFormed()) return piece;
    const text = (half ?? '') + piece;
    this.halves.delete(stream);
    if (!isHighSurrogate(text)) return text.toWellFormed();
    this.halves.set(stream, text.slice(-1));
    return text.slice(0, -1).toWellFormed();
  }

  /** What is left of a stream that has ended. */
  end(stream: string): string {
    const half = this.halves.get(stream) ?? '';
    this.halves.delete(stream);
    return half.toWellFormed();
  }
}
