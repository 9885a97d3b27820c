import type { z } from 'zod';
import { fieldErrors } from '../problems/field-errors';
import { InvalidRequest } from '../problems/refusals';
import { storable } from './storable';

/** What a client sent, or InvalidRequest with a line per wrong field. */
export function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const trouble = storable(value);
  if (trouble) throw new InvalidRequest([trouble]);

  const result = schema.safeParse(value);
  if (!result.success) throw new InvalidRequest(fieldErrors(result.error));
  return result.data;
}
