import { type MemoryStore, readJson } from '@rondo/contract';
import { type Route, apiRoutes, readParams } from '@rondo/contract/api';
import { z } from 'zod';
import { type Command, type Context, type Given, type Option, UsageError } from '../command';
import type { Ending } from '../exit-codes';
import { type JsonObject, isObject } from '../json-object';
import { commonOptions, readCount } from '../parse-arguments';

export type RouteId = keyof typeof apiRoutes;

/** A command of a route. */
export interface RouteCommand {
  /** For example `threads ls`, or `health`. */
  readonly name: string;
  readonly route: RouteId;
  /** For a list: the fields that a table shows of each item. */
  readonly columns: readonly string[];
}

/** A field of a query or a body, as an option. */
interface Field {
  /** As the API has it, for example `time_zone`. */
  readonly key: string;
  /** For example `time-zone`. */
  readonly option: string;
  /** The types of JSON that it may have; none is known of a field that takes anything. */
  readonly types: readonly string[];
  /** Whether it is a list of texts, which commas may separate. */
  readonly isTextList: boolean;
  readonly help: string;
}

const bodyOption: Option = {
  name: 'data',
  value: 'JSON',
  help: 'the whole request as JSON, `-` reads it from standard input; other options replace its fields',
};
const confirmOption: Option = { name: 'yes', short: 'y', help: 'do not ask at a terminal' };
const limitOption: Option = { name: 'limit', short: 'n', value: 'NUMBER', help: 'at most so many (50)' };

/** A command that sends one request: arguments for its path, options for its query and body. */
export function createRouteCommand({ name, route: id, columns }: RouteCommand): Command {
  const route: Route = apiRoutes[id];
  const [resource = ''] = name.split(' ');
  const isPaged = route.query !== undefined && 'after' in route.query.shape;
  const query = readFields(route.query, resource).filter(({ key }) => !isPaged || (key !== 'limit' && key !== 'after'));
  const body = readFields(route.body, resource);
  const params = readParams(route.path, route.params).map(([param]) => param);
  const { description } = route;
  return {
    name,
    summary: route.summary,
    ...(description !== undefined && { details: description }),
    args: params.map((param) => ({
      name: param === storeParam ? 'STORE|NAME' : param.replace(/_id$/, '').toUpperCase(),
    })),
    options: [
      ...[...query, ...body].map(createOption),
      ...(route.body ? [bodyOption] : []),
      ...(isPaged ? [limitOption] : []),
      ...(route.method === 'DELETE' ? [confirmOption] : []),
    ],
    async run(given, context) {
      if (route.method === 'DELETE' && !(await isConfirmed(route, given, context))) return 'failed';
      const args = await Promise.all(
        given.args.map(async (arg, index) => (params[index] === storeParam ? findMemoryStore(arg, context) : arg)),
      );
      const request = {
        method: route.method,
        path: fillPath(route, args),
        query: Object.fromEntries(query.map(({ key, option }) => [key, given.value(option)])),
        ...(route.body && { json: await readBody(body, given, context) }),
      };
      if (!isPaged) return show(await context.rondo().request<unknown>(request), columns, context);
      const limit = readCount(given, 'limit', 1) ?? 50;
      return showList(await readItems(request, limit, context), columns, context);
    },
  };
}

function readFields(schema: z.ZodType | undefined, resource: string): readonly Field[] {
  if (!schema) return [];
  const {
    properties = {},
    required = [],
    $defs = {},
  } = describeSchema(schema) as {
    properties?: Record<string, JsonObject>;
    required?: readonly string[];
    $defs?: Record<string, JsonObject>;
  };
  const taken = [...commonOptions, bodyOption, confirmOption].map(({ name }) => name);
  return Object.entries(properties).map(([key, property]) => {
    const option = key.replaceAll('_', '-');
    const alternatives = readAlternatives(property, $defs);
    const words = alternatives.flatMap((one) => ('enum' in one ? (one['enum'] as readonly unknown[]) : []));
    const lists = alternatives.filter(({ type }) => type === 'array');
    const { description } = property;
    const about = [
      ...(required.includes(key) ? ['required'] : []),
      ...(words.length > 0 ? [`one of ${words.join(', ')}`] : []),
      ...(typeof description === 'string' ? [description] : []),
    ];
    return {
      key,
      option: taken.includes(option) ? `${resource.replace(/s$/, '')}-${option}` : option,
      types: alternatives.flatMap(({ type }) =>
        typeof type === 'string' ? [type === 'integer' ? 'number' : type] : [],
      ),
      isTextList: lists.some(({ items }) =>
        readAlternatives(items as JsonObject, $defs).some(({ type }) => type === 'string'),
      ),
      help: about.join('. '),
    };
  });
}

const describeSchema = (schema: z.ZodType): JsonObject =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

/** The schemas of which a value fits one. */
function readAlternatives(schema: JsonObject, $defs: Readonly<Record<string, JsonObject>>): readonly JsonObject[] {
  const { $ref, anyOf, oneOf, type } = schema;
  if (typeof $ref === 'string') return readAlternatives($defs[$ref.replace('#/$defs/', '')] ?? {}, $defs);
  const several = anyOf ?? oneOf;
  if (Array.isArray(several)) return several.flatMap((one) => readAlternatives(one as JsonObject, $defs));
  return Array.isArray(type) ? type.map((one: unknown) => ({ ...schema, type: one })) : [schema];
}

const createOption = ({ option, types, isTextList, help }: Field): Option => ({
  name: option,
  value: isTextList
    ? 'A,B'
    : types.includes('string') || types.length === 0
      ? 'TEXT'
      : (nouns[types[0] ?? ''] ?? 'JSON'),
  help: help === '' ? option.replaceAll('-', ' ') : help,
});

const nouns: Readonly<Record<string, string>> = { number: 'NUMBER', boolean: 'true|false' };

const storeParam = 'memory_store_id';

/** By its id, or by its name where only one has it. */
async function findMemoryStore(store: string, { rondo }: Context): Promise<string> {
  if (store.startsWith('mem_')) return store;
  const { data } = await rondo().request<{ readonly data: readonly MemoryStore[] }>({
    method: 'GET',
    path: apiRoutes.listMemoryStores.path,
    query: { name: store },
  });
  const [first, ...others] = data;
  if (!first) throw new UsageError(`There is no memory store ${store}. See: rondo memory ls`);
  if (others.length === 0) return first.id;
  const found = data.map(({ id, ...of }) => `${id} (${describeScope(of)})`).join(', ');
  throw new UsageError(`Several memory stores have the name ${store}. Name one by its id: ${found}.`);
}

const describeScope = ({ project_id, agent_id, user }: Omit<MemoryStore, 'id'>): string =>
  project_id ?? agent_id ?? (user === null ? 'of the account' : `of the user ${user}`);

/** Fills the parameters of the path in their order. */
function fillPath({ path }: Route, args: readonly string[]): string {
  const rest = [...args];
  return path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(rest.shift() ?? ''));
}

async function isConfirmed(route: Route, given: Given, { terminal }: Context): Promise<boolean> {
  if (given.has('yes') || !terminal.canAsk) return true;
  const answer = await terminal.ask(`${route.summary}: ${given.args.join(' ')}? [y/N] `);
  return answer?.trim().toLowerCase() === 'y';
}

async function readBody(fields: readonly Field[], given: Given, { terminal }: Context): Promise<unknown> {
  const data = given.value('data');
  const text = data === '-' ? await terminal.readPiped() : data;
  const whole = text === undefined ? {} : readJson(text);
  if (whole === undefined) throw new UsageError('--data is not JSON.');
  const parts = fields.flatMap((field) => {
    const value = given.value(field.option);
    return value === undefined ? [] : [[field.key, readValue(field, value)]];
  });
  if (parts.length === 0) return whole;
  if (!isObject(whole)) throw new UsageError('With other options, --data is an object.');
  return { ...whole, ...Object.fromEntries(parts) };
}

/** Text stays text where the field takes text; the gateway checks the rest. */
function readValue({ option, types, isTextList }: Field, text: string): unknown {
  const parsed = readJson(text);
  if (parsed !== undefined && typeof parsed !== 'string' && (types.length === 0 || types.includes(toType(parsed))))
    return parsed;
  if (isTextList) return text.split(',').map((one) => one.trim());
  if (types.length === 0 || types.includes('string')) return text;
  throw new UsageError(`--${option} takes ${types.join(' or ')} as JSON, not ${text}.`);
}

const toType = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

interface ListRequest {
  readonly method: Route['method'];
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
}

interface Page {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

/** Asks for pages until there are so many items. */
async function readItems(request: ListRequest, limit: number, { rondo }: Context): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  let after: string | undefined;
  do {
    const query = { ...request.query, limit: Math.min(limit - items.length, 200), after };
    const page: Page = await rondo().request<Page>({ ...request, query });
    items.push(...page.data);
    after = page.next_cursor ?? undefined;
  } while (after !== undefined && items.length < limit);
  return items.slice(0, limit);
}

function showList(items: readonly unknown[], columns: readonly string[], { terminal }: Context): Ending {
  if (terminal.isJson) for (const item of items) terminal.json(item);
  else
    terminal.table([
      columns.map((column) => column.replaceAll('_', ' ').toUpperCase()),
      ...items.map((item) => columns.map((column) => toCell(isObject(item) ? item[column] : item))),
    ]);
  return 'ok';
}

function show(answer: unknown, columns: readonly string[], context: Context): Ending {
  const { terminal } = context;
  if (columns.length > 0 && isObject(answer) && Array.isArray(answer['data']))
    return showList(answer['data'], columns, context);
  if (terminal.isJson) terminal.json(answer ?? { done: true });
  else if (answer === undefined) terminal.line('Done.');
  else if (isObject(answer)) terminal.table(Object.entries(answer).map(([name, value]) => [name, toText(value)]));
  else terminal.line(JSON.stringify(answer, null, 2));
  return 'ok';
}

const toText = (value: unknown): string =>
  value === null || value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);

const longestCell = 60;

/** One line, as a cell of a table. `--json` has the whole. */
function toCell(value: unknown): string {
  const text = toText(value).replaceAll(/\s+/g, ' ');
  return text.length > longestCell ? `${text.slice(0, longestCell - 1)}…` : text;
}
