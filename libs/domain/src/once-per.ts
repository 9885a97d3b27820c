import { notesOn } from './notes';

/**
 * Works something out of an object once: for objects that never change, and are asked about again and again. Where the
 * result is undefined, it is looked for again.
 */
export function oncePer<Key extends object, Result>(workOut: (key: Key) => Result): (key: Key) => Result {
  const known = notesOn<Key, Result>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const result = workOut(key);
    known.set(key, result);
    return result;
  };
}
