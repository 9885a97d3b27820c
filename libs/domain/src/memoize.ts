/** A value for each of some objects, without a visible change of these objects. */
export interface HiddenFields<Key extends object, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
}

/** Its constructor returns the given object, so a subclass adds its private fields to that object. */
const Given = class {
  constructor(object: object) {
    return object;
  }
} as new (object: object) => object;

/**
 * A WeakMap for objects that come and go by the thousands. The value is a private field of its object and dies with it.
 * The garbage collector has to visit every entry of a WeakMap, which costs a microsecond; a field costs 20 nanoseconds.
 */
export function toHiddenFields<Key extends object, Value>(): HiddenFields<Key, Value> {
  return class WithValue extends Given {
    #value: Value;

    private constructor(key: Key, value: Value) {
      super(key);
      this.#value = value;
    }

    static get(key: Key): Value | undefined {
      return #value in key ? key.#value : undefined;
    }

    static set(key: Key, value: Value): void {
      if (#value in key) key.#value = value;
      else new WithValue(key, value);
    }
  };
}

/** Computes a result once for each object. The objects must not change. An undefined result is computed again. */
export function memoize<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const results = toHiddenFields<Key, Result>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(key);
    results.set(key, result);
    return result;
  };
}

/** The same for an object and a number. */
export function memoizeByNumber<Key extends object, Result>(
  compute: (key: Key, number: number) => Result,
): (key: Key, number: number) => Result {
  const listResults = memoize((_: Key) => new Map<number, Result>());
  return (key, number) => {
    const results = listResults(key);
    const result = results.get(number) ?? compute(key, number);
    results.set(number, result);
    return result;
  };
}

/**
 * Computes a result from a list that grows at its end, and continues from the previous result: the thousandth message of
 * a conversation costs what the tenth did. Remembers the latest list for each first element, as long as that element
 * lives. `extend` may change and return the result that it receives, because no other code has it.
 */
export function memoizeGrowingList<Item extends object, Result>(
  extend: (result: Result | undefined, added: readonly Item[]) => Result,
): (list: readonly Item[]) => Result {
  const latest = toHiddenFields<Item, { readonly list: readonly Item[]; readonly result: Result }>();
  return (list) => {
    const [first] = list;
    if (!first) return extend(undefined, list);
    const before = latest.get(first);
    const added = before && listAdded(before.list, list);
    const result = added ? extend(before.result, added) : extend(undefined, list);
    latest.set(first, { list, result });
    return result;
  };
}

/** The items that a list has after another one that it begins with, object by object; undefined if it begins differently. */
export function listAdded<Item>(beginning: readonly Item[], list: readonly Item[]): readonly Item[] | undefined {
  if (list.length < beginning.length) return undefined;
  return beginning.every((item, index) => item === list[index]) ? list.slice(beginning.length) : undefined;
}
