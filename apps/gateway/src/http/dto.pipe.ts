import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { ZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { InvalidRequest } from '../problems/refusals';
import { parsed } from './parsed';

/** Parses every body and query that is declared as a DTO. No body at all is an empty one. */
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!isDto(metatype) || !(metatype.schema instanceof z.ZodType)) return value;
    if (type === 'query') refuseEmpty(value);
    return parsed(metatype.schema, value === undefined ? {} : value);
  }
}

/** `?after=` says nothing, and would be read as 0. */
function refuseEmpty(query: unknown): void {
  const empty = Object.entries(query ?? {}).filter(([, value]) => value === '');
  if (empty.length === 0) return;
  throw new InvalidRequest(empty.map(([field]) => ({ field, message: 'must not be empty' })));
}

const isDto = (metatype: unknown): metatype is ZodDto =>
  typeof metatype === 'function' && 'isZodDto' in metatype && metatype.isZodDto === true;
