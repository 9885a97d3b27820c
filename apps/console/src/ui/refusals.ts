import { RondoError } from '@rondo/client';
import { useState } from 'react';

/** Why fields of a form were refused, by their names. */
export type Refusals = Readonly<Record<string, string | undefined>>;

/** Empty: the error is about no field. A problem that names no fields is about the one that its code has in `fields`. */
export function findRefusals(error: unknown, fields: Readonly<Record<string, string>>): Refusals {
  if (!(error instanceof RondoError)) return {};
  const field = fields[error.code];
  if (field !== undefined) return { [field]: error.message };
  return Object.fromEntries(error.errors.map((each) => [each.field, each.message]));
}

type Work = (fields: FormData) => Promise<unknown>;

/** What was refused of a form that was sent, and what sends it. An error about something else is thrown on. */
export function useRefusals(codes: Readonly<Record<string, string>>): readonly [Refusals, (work: Work) => Work] {
  const [refusals, setRefusals] = useState<Refusals>({});
  const placing = (work: Work) => async (fields: FormData) => {
    setRefusals({});
    try {
      await work(fields);
    } catch (error) {
      const found = findRefusals(error, codes);
      const names = Object.keys(found);
      if (names.length === 0 || !names.every((name) => fields.has(name))) throw error;
      setRefusals(found);
    }
  };
  return [refusals, placing];
}
