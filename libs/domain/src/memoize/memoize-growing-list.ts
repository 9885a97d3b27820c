import { hiddenFieldsOf } from './hidden-fields';

/** What a list has beyond another that it begins with, object for object; undefined where it begins otherwise. */
export function addedTo<Item>(beginning: readonly Item[], list: readonly Item[]): readonly Item[] | undefined {
  if (list.length < beginning.length) return undefined;
  return beginning.every((item, at) => item === list[at]) ? list.slice(beginning.length) : undefined;
}

/**
 * Works something out of a list that grows at its end, and goes on from where it stood: a conversation's thousandth message
 * costs what its tenth did. Of lists with the same first element the one asked about last is remembered, for as long as that
 * element is there. `goOn` may change and return what it is given: nobody else has it.
 */
export function memoizeGrowingList<Item extends object, Made>(
  goOn: (made: Made | undefined, more: readonly Item[]) => Made,
): (list: readonly Item[]) => Made {
  const known = hiddenFieldsOf<Item, { readonly list: readonly Item[]; readonly made: Made }>();
  return (list) => {
    const [first] = list;
    if (!first) return goOn(undefined, list);
    const before = known.get(first);
    const more = before && addedTo(before.list, list);
    const made = more ? goOn(before.made, more) : goOn(undefined, list);
    known.set(first, { list, made });
    return made;
  };
}
