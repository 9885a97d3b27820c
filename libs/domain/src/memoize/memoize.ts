import { hiddenFieldsOf } from './hidden-fields';

/**
 * Works something out of an object once: for objects that never change, and are asked about again and again. Where the
 * result is undefined, it is looked for again.
 */
export function memoize<Key extends object, Result>(workOut: (key: Key) => Result): (key: Key) => Result {
  const known = hiddenFieldsOf<Key, Result>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const result = workOut(key);
    known.set(key, result);
    return result;
  };
}

/** The same of an object and a number. */
export function memoizeByNumber<Key extends object, Result>(
  workOut: (key: Key, number: number) => Result,
): (key: Key, number: number) => Result {
  const knownOf = memoize((_: Key) => new Map<number, Result>());
  return (key, number) => {
    const known = knownOf(key);
    const result = known.get(number) ?? workOut(key, number);
    known.set(number, result);
    return result;
  };
}
