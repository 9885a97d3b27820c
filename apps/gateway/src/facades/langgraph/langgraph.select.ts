/** A list in a query: repeated, or as JSON. */
export function toList(given: string | readonly string[] | undefined): readonly string[] | undefined {
  return given === undefined ? undefined : [given].flat().flatMap((text) => text.replaceAll(/[[\]"]/g, '').split(','));
}

/** The fields of each that a client wants. A part of a field stands for the whole of it. Absent: all. */
export const selectFields = (all: readonly object[], select: readonly string[] | null | undefined): object[] =>
  all.map((one) => selectOne(one, select));

export function selectOne(given: object, select: readonly string[] | null | undefined): object {
  if (!select || select.length === 0) return given;
  const wanted = new Set(select.map((field) => field.split('.')[0]));
  return Object.fromEntries(Object.entries(given).filter(([field]) => wanted.has(field)));
}
