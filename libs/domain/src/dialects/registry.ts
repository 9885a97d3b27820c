import type { DialectName } from '../tool-call';
import type { Dialect } from './dialect';
import { nativeDialect } from './native';

const dialects: Partial<Record<DialectName, Dialect>> = { native: nativeDialect };

/** The dialects that this version speaks; settings that name another are refused at the door. */
export const spokenDialects = Object.keys(dialects) as DialectName[]; // the keys of the record above

export const dialectNamed = (name: DialectName): Dialect => dialects[name] ?? nativeDialect;
