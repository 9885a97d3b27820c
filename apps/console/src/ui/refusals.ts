import { RondoError } from '@rondo/client';
import { type RefObject, createContext, useContext, useEffect, useState } from 'react';
import { useProblem } from './problem-text.ts';

/** Why fields were refused, by their names. */
export type Refusals = Readonly<Record<string, string | undefined>>;

/** Where the fields of a form are in the request that it makes. A field has the name that its value has there. */
export interface FieldPlaces {
  /** The part of the request that the fields are of, such as `definition`. */
  readonly part?: string;
  /** The field that a problem is about which names none, by its code. */
  readonly codes?: Readonly<Record<string, string>>;
}

interface Refused {
  readonly refusals: Refusals;
  /** What is about none of the fields. Null: nothing. */
  readonly rest: unknown;
}

/**
 * What an error says of the fields with these names. What is wrong in a part of a value is said of the value, and what is wrong with
 * all that several fields are parts of, of the first of them.
 */
export function placeRefusals(error: unknown, names: readonly string[], places: FieldPlaces = {}): Refused {
  if (!(error instanceof RondoError)) return { refusals: {}, rest: error };
  const ofCode = places.codes?.[error.code];
  if (ofCode !== undefined && names.includes(ofCode)) return { refusals: { [ofCode]: error.message }, rest: null };
  const placed = error.errors.map((one) => ({ ...one, name: findName(one.field, names, places) }));
  const others = placed.filter(({ name }) => name === undefined);
  if (others.length === placed.length) return { refusals: {}, rest: error };
  const refusals: Record<string, string> = {};
  for (const { name, message } of placed) if (name !== undefined) refusals[name] ??= toSentence(message);
  const rest = others.map(({ field, message }) => `${field}: ${message}`).join(' ');
  return { refusals, rest: rest === '' ? null : new Error(rest) };
}

function findName(field: string, names: readonly string[], { part }: FieldPlaces): string | undefined {
  const path = part !== undefined && field.startsWith(`${part}.`) ? field.slice(part.length + 1) : field;
  const within = names.filter((name) => path === name || path.startsWith(`${name}.`));
  return within.sort((a, b) => b.length - a.length)[0] ?? names.find((name) => name.startsWith(`${path}.`));
}

/** In the API a refusal stands after the name of a field, and here below the field. */
function toSentence(message: string): string {
  const begun = /^(must|is|needs|has|cannot|names) /.test(message) ? `this ${message}` : message;
  const whole = `${begun.charAt(0).toUpperCase()}${begun.slice(1)}`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

export const RefusalsContext = createContext<Refusals>({});

/** Why the field of this name was refused. */
export function useRefusal(name: string | undefined): string | undefined {
  const refusals = useContext(RefusalsContext);
  return name === undefined ? undefined : refusals[name];
}

interface FieldWork {
  readonly isBusy: boolean;
  readonly refusals: Refusals;
  /** What went wrong beside what was refused of a field. */
  readonly problem: string | null;
  /** Resolves with whether the work is done. One at a time. */
  readonly start: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** Work with what is in fields, which takes time and may be refused. The first field that was refused gets the focus. */
export function useFieldWork(fields: RefObject<HTMLElement | null>, places?: FieldPlaces): FieldWork {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useProblem();
  const [refusals, setRefusals] = useState<Refusals>({});
  useEffect(() => focusRefused(fields.current), [fields, refusals]);
  const start = async (work: () => Promise<unknown>) => {
    if (isBusy) return false;
    setBusy(true);
    setProblem(null);
    setRefusals({});
    try {
      await work();
      return true;
    } catch (error) {
      const refused = placeRefusals(error, listNames(fields.current), places);
      setRefusals(refused.refusals);
      setProblem(refused.rest);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, refusals, problem, start };
}

/** Those of fields that say something first: an empty one was not refused where others can be meant. */
const listNames = (fields: HTMLElement | null): string[] =>
  [...(fields?.querySelectorAll('.field [name]') ?? [])]
    .sort((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)))
    .flatMap((field) => field.getAttribute('name') ?? []);

const isEmpty = (field: Element): boolean => 'value' in field && field.value === '';

/** What is closed and has a refused field is opened. The buttons of an editor lie over what is at its edge. */
function focusRefused(fields: HTMLElement | null): void {
  for (const closed of fields?.querySelectorAll('details:has([aria-invalid=true])') ?? [])
    closed.setAttribute('open', '');
  const first = fields?.querySelector<HTMLElement>('[aria-invalid=true]');
  first?.focus({ preventScroll: true });
  first?.closest('.field')?.scrollIntoView({ block: 'center' });
}
