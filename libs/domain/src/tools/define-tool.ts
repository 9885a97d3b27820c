import type { EffectClass, ToolSource } from '@rondo/contract';
import { z } from 'zod';
import { memoize } from '../memoize';

/**
 * A tool, as data: what the model reads, what its arguments must be, and how careful the engine must be with it.
 * The handler that does the work lives in the tool executor, in memory/ for `runsIn: 'loop'`,
 * is another run for `runsIn: 'child_run'`, or is the caller's for `runsIn: 'caller'`.
 */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** The JSON Schema of its arguments, where it is not that of `input`: a tool of a server brings its own. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Set where it is only another name for a tool; see tool-alias.ts. */
  readonly alias?: ToolAlias;
  /** Absent: it is built in. */
  readonly source?: ToolSource;
  /** What an executor must have for it. Absent: a sandbox is enough. */
  readonly needs?: ToolNeed;
  /** The effect of every call, or that of one by its parsed arguments and by what the operator says of the server that it goes to. */
  readonly effect: EffectClass | ((input: never, honoursKeys: HonoursKeys) => EffectClass);
  /**
   * `executor`: in the thread's sandbox. `loop`: answered by the run itself, without leaving the worker. `child_run`: the
   * call is a run of its own, and its end is the answer. `caller`: the run waits for a result that comes over the API.
   */
  readonly runsIn: 'executor' | 'loop' | 'child_run' | 'caller';
  /** What its calls can do, whatever their arguments. An approval of one tool means little while another can do the same. */
  readonly powers?: readonly ToolPower[];
  /** The longest that a call may take, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest text of a result that the model is shown. Absent: `usualOutputCharacters`. */
  readonly outputCharacters?: number;
  /** What only one call of a thread uses at a time. Absent: its calls run beside each other. */
  readonly exclusive?: 'session' | 'session input' | 'file' | 'browser';
  readonly group: 'shell' | 'code' | 'files' | 'web' | 'memory' | 'conversation' | 'agents' | 'external' | 'caller';
  /**
   * By what a call put out: what it asks about still goes on, so that to ask again is to wait and not to go in circles.
   */
  readonly isWaiting?: (output: string) => boolean;
  /** Arguments that show how it is used; each dialect writes them in its own syntax. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** How it is written as a tag of its own; see docs/dialects.md. */
  readonly xml?: XmlMapping;
}

/**
 * What an executor may lack: a search engine, data providers, a way out of its sandboxes, a browser, URLs for the ports of
 * sandboxes, URLs for the sites of threads, or a service that writes down speech.
 */
export const toolNeeds = [
  'search_engine',
  'data_providers',
  'internet',
  'browser',
  'previews',
  'sites',
  'transcription',
] as const;
export type ToolNeed = (typeof toolNeeds)[number];

/** `reaches_out`: sends what the model wrote to an address that the model chose. */
export type ToolPower = 'runs_commands' | 'writes_files' | 'deletes_files' | 'reaches_out';

/** A command can do what the other tools of a sandbox can. */
export const powersOfCommands: readonly ToolPower[] = ['runs_commands', 'writes_files', 'deletes_files', 'reaches_out'];

/** Whether the operator vouches that the server of this URL tells repetitions apart by their Idempotency-Key. */
export type HonoursKeys = (url: string) => boolean;

const honoursNoKeys: HonoursKeys = () => false;

/** `host`, `host:port`, or `*.host` for whatever lies below it. */
export const hostPattern = z
  .string()
  .regex(
    /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/i,
    'expected a host, for example api.example.org or *.example.org',
  )
  .transform((pattern) => pattern.toLowerCase());

/** A pattern without a port means the usual port of the URL's protocol. */
export const honoursKeysAt =
  (patterns: readonly string[]): HonoursKeys =>
  (url) => {
    if (!URL.canParse(url)) return false;
    const { host } = new URL(url);
    return patterns.some((pattern) => (pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern));
  };

/** How the arguments of an alias become those of its target. */
export interface ToolAlias {
  /** The target's name. */
  readonly of: string;
  /** The target's parameter that each parameter of the alias stands for. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Arguments that the target always gets. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** Parameters are child elements unless they stand here. With `content`, all others are attributes. */
export interface XmlMapping {
  /** The tool's name with dashes where it is absent. */
  readonly tag?: string | undefined;
  readonly attributes?: readonly string[] | undefined;
  /** The parameter that is the text between the tags. */
  readonly content?: string | undefined;
}

export const usualOutputCharacters = 30_000;

export const defineTool = <const Definition extends ToolDefinition>(definition: Definition): Definition => definition;

/** The class of one call. What cannot be run, for its name or its arguments, counts as `unsafe` all the same. */
export function toEffect(
  tool: ToolDefinition | undefined,
  given: unknown,
  honoursKeys: HonoursKeys = honoursNoKeys,
): EffectClass {
  if (typeof tool?.effect !== 'function') return tool?.effect ?? 'unsafe';
  const parsed = tool.input.safeParse(given);
  return parsed.success ? tool.effect(parsed.data as never, honoursKeys) : 'unsafe'; // its own schema has parsed them
}

/** The class to expect before the arguments are known: the most careful one. */
export const expectEffect = ({ effect }: ToolDefinition): EffectClass =>
  typeof effect === 'string' ? effect : 'unsafe';

export const byName = memoize(
  (tools: readonly ToolDefinition[]): ReadonlyMap<string, ToolDefinition> =>
    new Map(tools.map((tool) => [tool.name, tool])),
);

/** The whole JSON Schema of its arguments, as `GET /v1/tools` shows it. */
export const argumentsSchema = memoize((tool: ToolDefinition): Record<string, unknown> => {
  const { $schema: _dialect, ...schema } = tool.parameters ?? z.toJSONSchema(tool.input, { io: 'input' });
  return schema;
});

/**
 * The schema that models are shown, in each request: of a tool that has no other schema than `input`, without the bounds of its
 * values. A call that does not keep to them is refused with the reason.
 */
export const shownSchema = memoize((tool: ToolDefinition): Record<string, unknown> => {
  const schema = argumentsSchema(tool);
  return tool.parameters ? schema : withoutBounds(schema);
});

const bounds: ReadonlySet<string> = new Set([
  ...['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);

/** The names of properties may be those of bounds. */
const withoutBounds = (schema: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (bounds.has(key)) return [];
      if (key !== 'properties') return [[key, withoutBoundsWithin(value)]];
      const properties = Object.entries(value as Record<string, unknown>); // of a schema that zod made
      return [[key, Object.fromEntries(properties.map(([name, one]) => [name, withoutBoundsWithin(one)]))]];
    }),
  );

function withoutBoundsWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBoundsWithin);
  return typeof value === 'object' && value !== null ? withoutBounds({ ...value }) : value;
}
