import type { DialectName } from '@rondo/contract';
import type { Dialect } from './dialect';
import { jsonDialect } from './json-mode';
import { nativeDialect } from './native';
import { xmlInvokeDialect } from './xml-invoke';
import { xmlTagDialect } from './xml-tag';

const dialects: Record<DialectName, Dialect> = {
  native: nativeDialect,
  xml_invoke: xmlInvokeDialect,
  xml_tag: xmlTagDialect,
  json: jsonDialect,
};

export const dialectNamed = (name: DialectName): Dialect => dialects[name];
