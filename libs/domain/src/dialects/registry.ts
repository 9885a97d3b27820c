import type { DialectName } from '@rondo/contract';
import type { Dialect } from './dialect';
import { DraftDecoder } from './draft-decoder';
import { jsonDialect } from './json-mode';
import { nativeDialect } from './native';
import { xmlInvokeDialect } from './xml-invoke';
import { xmlTagDialect } from './xml-tag';

/** Where calls stand within the text, one that the model only thought about is none. */
const refuseDrafts = (dialect: Dialect): Dialect => ({
  ...dialect,
  decoder: (tools, settings) => {
    const isInText = tools.length > 0 && (dialect.name !== 'native' || settings.printed_calls === true);
    const newDecoder = () => dialect.decoder(tools, settings);
    return isInText ? new DraftDecoder(newDecoder) : newDecoder();
  },
});

const dialects: Record<DialectName, Dialect> = {
  native: refuseDrafts(nativeDialect),
  xml_invoke: refuseDrafts(xmlInvokeDialect),
  xml_tag: refuseDrafts(xmlTagDialect),
  json: refuseDrafts(jsonDialect),
};

export const dialectNamed = (name: DialectName): Dialect => dialects[name];
