import { z } from 'zod';
import { argumentsJsonSchema } from './arguments-schema';
import { effectClass } from './tool-call';

const toolGroup = z.enum(['shell', 'files', 'web', 'memory', 'conversation', 'agents', 'external', 'caller']);

/** How a tool is written as an XML tag. Parameters that are not named here are child elements. */
const xmlMapping = z.object({
  /** Default: the name of the tool, with dashes. */
  tag: z.string().optional(),
  attributes: z.array(z.string()).optional(),
  /** The parameter that is the text between the tags. If there is one, all others are attributes. */
  content: z.string().optional(),
});

/** The origin of a tool. Only built-in tools have code in the loop and may be answered there. */
const toolSource = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('built_in') }),
  z.object({
    kind: z.literal('mcp'),
    server: z.string().min(1),
    /** The server's own name of it. */
    tool: z.string().min(1),
    /** Of the tool as the model knows it; an executor refuses a call of a tool that has changed. */
    fingerprint: z.string(),
  }),
  z.object({ kind: z.literal('agent'), agent: z.string().min(1) }),
  z.object({ kind: z.literal('caller') }),
]);
export type ToolSource = z.infer<typeof toolSource>;

const description = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  parameters: argumentsJsonSchema,
  effect_class: effectClass,
  runs_in: z.enum(['executor', 'loop', 'child_run', 'caller']),
  timeout_ms: z.number().int().positive(),
  group: toolGroup,
  example: z.record(z.string(), z.unknown()).optional(),
  xml: xmlMapping.optional(),
  /** The tool that it is only another name for. */
  alias_of: z.string().optional(),
  source: toolSource,
});

/** A tool as it was when the run began. */
const toolSnapshot = description
  .refine(({ runs_in, source }) => runs_in === 'executor' || source.kind === 'built_in' || source.kind === 'caller', {
    path: ['runs_in'],
    message: 'only a built-in tool can run in the loop or start a run',
  })
  .refine(({ runs_in, source }) => (runs_in === 'caller') === (source.kind === 'caller'), {
    path: ['runs_in'],
    message: 'a caller answers its own tools, and no others',
  });
export type ToolSnapshot = z.infer<typeof toolSnapshot>;

/** The tools that a model is shown once it has found them, and how many of them at a time. */
const searched = z.object({
  tools: z.array(z.string()),
  capacity: z.object({ tools: z.number().int().positive(), tokens: z.number().int().positive() }),
});

/** The tools of a run. `offered` names those that its model is shown from the beginning, in the order of the prompt. */
export const toolSetSnapshot = z
  .object({
    version: z.literal(1),
    tools: z.array(toolSnapshot),
    offered: z.array(z.string()),
    search: searched.exactOptional(),
    /** Those that only programs call; the model is shown an index of them. */
    programs: z.array(z.string()).exactOptional(),
  })
  .refine(({ tools }) => new Set(tools.map(({ name }) => name)).size === tools.length, {
    path: ['tools'],
    message: 'each name must stand once',
  })
  .refine(
    ({ tools, offered, search, programs = [] }) => {
      const names = new Set(tools.map(({ name }) => name));
      return [...offered, ...(search?.tools ?? []), ...programs].every((name) => names.has(name));
    },
    { path: ['offered'], message: 'must name tools of the set' },
  );
export type ToolSetSnapshot = z.infer<typeof toolSetSnapshot>;
