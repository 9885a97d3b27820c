import { z } from 'zod';
import type { DecodedReply, Dialect, DialectSettings, ReplyPiece } from '../dialects/dialect';
import { jsonDialect } from '../dialects/json-mode';
import { xmlInvokeDialect } from '../dialects/xml-invoke';
import { xmlTagDialect } from '../dialects/xml-tag';
import { tools } from '../tools/catalog';
import { type ToolDefinition, defineTool } from '../tools/define-tool';

/** The dialects that write calls as text. */
export const textDialects = {
  xml_invoke: xmlInvokeDialect,
  xml_tag: xmlTagDialect,
  json: jsonDialect,
} satisfies Record<string, Dialect>;
export type TextDialectName = keyof typeof textDialects;
export const textDialectNames = Object.keys(textDialects) as TextDialectName[]; // the keys of the record above

/** A tool with a parameter of every kind. */
const plot = defineTool({
  name: 'plot',
  description: 'Draw points.',
  input: z.strictObject({
    points: z.array(z.number()).optional(),
    style: z.record(z.string(), z.unknown()).optional(),
    scale: z.number().nullable().optional(),
    notes: z.unknown(),
    label: z.string().optional(),
    caption: z.union([z.string(), z.array(z.string())]).optional(),
    grid: z.boolean().optional(),
  }),
  effect: 'pure',
  runsIn: 'executor',
  timeoutMs: 1_000,
  group: 'shell',
});

export const corpusTools: readonly ToolDefinition[] = [...tools, plot];

export const plainSettings: DialectSettings = {
  xml_adding_strategy: 'user_message',
  include_xml_examples: false,
  max_tool_calls: 0,
};

/** Reads a reply in chunks of `size` characters; returns it with everything that was shown. */
export function readReply(
  name: TextDialectName,
  written: string,
  size: number,
  settings: DialectSettings = plainSettings,
): { reply: DecodedReply; pieces: readonly ReplyPiece[] } {
  const decoder = textDialects[name].decoder(corpusTools, settings);
  const pieces: ReplyPiece[] = [];
  for (let at = 0; at < written.length; at += size)
    pieces.push(...decoder.push({ type: 'text', text: written.slice(at, at + size) }));
  const reply = decoder.end();
  return { reply, pieces: [...pieces, ...reply.rest] };
}
