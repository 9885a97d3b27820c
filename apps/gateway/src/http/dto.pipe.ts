import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { ZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { InvalidRequest } from '../problems/api-error';
import { parseInput } from './parse-input';

/** Parses every body and query that is declared as a DTO. A missing body is an empty object. */
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!isDto(metatype) || !(metatype.schema instanceof z.ZodType)) return value;
    if (type === 'query') refuseEmptyValues(value);
    return parseInput(metatype.schema, value === undefined ? {} : value);
  }
}

/** `?after=` has no value, and would be coerced to 0. */
function refuseEmptyValues(query: unknown): void {
  const empty = Object.entries(query ?? {}).filter(([, value]) => value === '');
  if (empty.length === 0) return;
  throw new InvalidRequest(empty.map(([field]) => ({ field, message: 'must not be empty' })));
}

const isDto = (metatype: unknown): metatype is ZodDto =>
  typeof metatype === 'function' && 'isZodDto' in metatype && metatype.isZodDto === true;
