import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { ZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { parsed } from './parsed';

/** Parses every body and query that is declared as a DTO. No body at all is an empty one. */
export class DtoPipe implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    if (!isDto(metatype) || !(metatype.schema instanceof z.ZodType)) return value;
    return parsed(metatype.schema, value === undefined ? {} : value);
  }
}

const isDto = (metatype: unknown): metatype is ZodDto =>
  typeof metatype === 'function' && 'isZodDto' in metatype && metatype.isZodDto === true;
