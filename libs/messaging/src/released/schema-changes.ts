import { z } from 'zod';

/** The part of JSON Schema that zod writes for messages. */
interface Structure {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Structure[];
  readonly oneOf?: readonly Structure[];
  readonly properties?: Readonly<Record<string, Structure>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Structure | false;
  readonly items?: Structure;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

interface Change {
  readonly before: Structure;
  readonly now: Structure;
  readonly path: string;
}

const anyObject = z.record(z.string(), z.unknown());

/**
 * The changes that keep services of two successive versions from parsing each other's messages, with what to do about each.
 * A newly allowed value is no flaw here. It must not be sent before the previous version can parse it, which the recorded
 * messages show.
 */
export function flawsBetween(before: object, now: object): string[] {
  const [released, present] = [before, now].map((schema) => anyObject.parse(schema) as Structure); // zod wrote both
  return flaws({ before: released ?? {}, now: present ?? {}, path: 'message' });
}

function flaws({ before, now, path }: Change): string[] {
  const released = alternatives(before);
  const present = alternatives(now);
  const mostSimilar = (one: Structure) =>
    fewest(present.map((other) => compareChange({ before: one, now: other, path })));
  return released.flatMap(mostSimilar);
}

/** Compares cases that may contain further cases. */
const compareChange = (change: Change): string[] =>
  [change.before, change.now].some((one) => alternatives(one).length > 1) ? flaws(change) : flawsOfOne(change);

function flawsOfOne(change: Change): string[] {
  const { before, now, path } = change;
  const narrower = [...typeFlaws(before, now), ...valueFlaws(before, now), ...boundFlaws(before, now)];
  return [
    ...narrower.map((flaw) => `${path}: ${flaw}; the previous version may send more: accept that for one version`),
    ...fieldFlaws(change),
    ...(before.items && now.items ? flaws({ before: before.items, now: now.items, path: `${path}[]` }) : []),
  ];
}

function alternatives({ anyOf, oneOf, ...whole }: Structure): readonly Structure[] {
  const { type } = whole;
  if (typeof type === 'object') return type.map((one) => ({ ...whole, type: one }));
  return anyOf ?? oneOf ?? [whole];
}

/** The fewest flaws: the case that is most similar. */
const fewest = (lists: readonly string[][]): string[] =>
  lists.reduce((best, list) => (list.length < best.length ? list : best));

function typeFlaws(before: Structure, now: Structure): string[] {
  const isWider = now.type === undefined || (now.type === 'number' && before.type === 'integer');
  return isWider || before.type === now.type ? [] : [`is of type ${String(now.type)} now`];
}

function valueFlaws(before: Structure, now: Structure): string[] {
  const [released, accepted] = [before, now].map((one) => one.enum ?? ('const' in one ? [one.const] : undefined));
  if (!accepted) return [];
  const refused = released?.filter((value) => !accepted.includes(value)) ?? ['others'];
  return refused.length === 0 ? [] : [`refuses ${refused.join(', ')} now`];
}

const least = ({ exclusiveMinimum, minimum = -Infinity }: Structure) => exclusiveMinimum ?? minimum;

function boundFlaws(before: Structure, now: Structure): string[] {
  const isStricter =
    least(now) > least(before) ||
    (least(now) === least(before) && now.exclusiveMinimum !== undefined && before.exclusiveMinimum === undefined);
  const texts = (['pattern', 'format'] as const).filter(
    (word) => now[word] !== undefined && now[word] !== before[word],
  );
  const highest = (['maximum', 'maxLength', 'maxItems'] as const).filter(
    (word) => (now[word] ?? Infinity) < (before[word] ?? Infinity),
  );
  const lowest = (['minLength', 'minItems'] as const).filter((word) => (now[word] ?? 0) > (before[word] ?? 0));
  return [...(isStricter ? ['minimum'] : []), ...texts, ...highest, ...lowest].map((word) => `has a narrower ${word}`);
}

function fieldFlaws({ before, now, path }: Change): string[] {
  const { properties = {}, required = [], additionalProperties } = now;
  const { properties: known = {}, required: expected = [], additionalProperties: others } = before;
  const added = required.filter((name) => !expected.includes(name));
  const removed = additionalProperties ? [] : expected.filter((name) => !(name in properties));
  const shared = Object.entries(known).flatMap(([name, field]): string[] => {
    const read = properties[name];
    return read ? flaws({ before: field, now: read, path: `${path}.${name}` }) : [];
  });
  return [
    ...added.map((name) => `${path}.${name}: is required now; the version before may not send it: make it optional`),
    ...removed.map(
      (name) => `${path}.${name}: is gone; the version before requires it: make it optional and go on sending it`,
    ),
    ...(additionalProperties === false ? [`${path}: refuses unknown fields; the next version could add none`] : []),
    ...(additionalProperties && others ? flaws({ before: others, now: additionalProperties, path: `${path}.*` }) : []),
    ...shared,
  ];
}
