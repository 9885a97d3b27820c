import { parametersOf } from '../../tools/tool-parameters';
import type { TextCall } from '../text-turns';
import { writeValue } from '../typed-value';
import { looksLikeTag } from './balanced-value';
import { writeAttribute } from './entities';
import { writeRawValue } from './raw-value';
import type { TagShapes } from './tag-grammar';
import type { TagShape } from './tag-shape';
import { asWritten } from './write-turn';

/** Writes a call as the tag of its tool. The call of an unknown tool has elements only. */
export function writeTag(call: TextCall, shapes: TagShapes): string {
  const verbatim = asWritten(call);
  if (verbatim !== undefined) return verbatim;

  const entry = shapes.get(call.name);
  const types = entry && parametersOf(entry.tool);
  const values = Object.entries(call.arguments)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, text: writeValue(value, types?.get(name)?.types) }));
  return write(values, entry?.shape ?? unknownShape(call.name), call.written ?? '');
}

const unknownShape = (name: string): TagShape => ({
  tag: name.replaceAll('_', '-'),
  attributes: [],
  content: undefined,
  elements: [],
});

interface Value {
  readonly name: string;
  readonly text: string;
}

function write(values: readonly Value[], { tag, attributes, content }: TagShape, unread: string): string {
  const isAttribute = ({ name }: Value) => attributes.includes(name) || (content !== undefined && name !== content);
  const inner = values.filter((value) => !isAttribute(value));
  const opening = [tag, ...values.filter(isAttribute).map(({ name, text }) => writeAttribute(name, text))].join(' ');
  if (inner.length === 0) return unread === '' ? `<${opening}/>` : `<${opening}>${unread}</${tag}>`;

  const written = inner.map(({ name, text }) =>
    name === content ? writeContent(text, tag) : writeElement(name, text),
  );
  return `<${opening}>${content === undefined ? `\n${written.join('\n')}\n` : written.join('')}</${tag}>`;
}

const writeElement = (name: string, text: string): string => `<${name}>${writeContent(text, name)}</${name}>`;

const writeContent = (text: string, element: string): string =>
  writeRawValue(text, (value) => looksLikeTag(value, element));
