/** Works something out of an object once: for objects that never change, and are asked about again and again. */
export function oncePer<Key extends object, Result>(workOut: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const entry = known.get(key);
    if (entry) return entry.result;
    const result = workOut(key);
    known.set(key, { result });
    return result;
  };
}
