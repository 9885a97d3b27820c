import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';
import {
  type AnswerDefinition,
  type ProblemCode,
  type Route,
  isIdempotent,
  mostFiles,
  problemStatus,
  readParams,
} from '@rondo/contract/api';
import { z } from 'zod';
import { type SchemaNames, schemaPath } from './describe-schemas';

type Paths = OpenAPIObject['paths'];
type Operation = NonNullable<Paths[string]['get']>;

/** The paths of the OpenAPI document. */
export function describeRoutes(routes: readonly Route[], names: SchemaNames): Paths {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route, names);
  }
  return paths;
}

function describeRoute(route: Route, names: SchemaNames): Operation {
  const { id, tag, summary, description, role, audit } = route;
  const body = describeBody(route, names);
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(audit !== undefined && { 'x-audit': audit }),
    ...(isUnderApi(route) && { security: role === 'open' ? [] : [{ api_key: [] }, { session: [] }] }),
    parameters: describeParameters(route),
    ...(body && { requestBody: body }),
    responses: { ...describeAnswers(route, names), ...describeProblems(findProblems(route)) },
  };
}

/** Paths outside of it are for browsers and for what watches the deployment, and answer no problems. */
const isUnderApi = ({ path }: Route): boolean => path.startsWith('/v1/');

function describeParameters(route: Route): NonNullable<Operation['parameters']> {
  const inPath = readParams(route.path, route.params).map(([name, { example }]) => ({
    ...{ name, in: 'path' as const, required: true },
    ...{ schema: { type: 'string' as const }, example },
  }));
  const inHeader = Object.entries(route.headers ?? {}).map(([name, { description, example }]) => ({
    ...{ name, in: 'header' as const, required: false, description },
    schema: { type: 'string' as const },
    ...(example !== undefined && { example }),
  }));
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } } as const;
  return [...inPath, ...describeQuery(route), ...inHeader, ...(isIdempotent(route) ? [key] : [])];
}

const objectSchema = z.object({
  properties: z.record(z.string(), z.looseObject({ description: z.string().optional() })),
  required: z.array(z.string()).default([]),
});

function describeQuery({ query, queryExample = {} }: Route): NonNullable<Operation['parameters']> {
  if (!query) return [];
  const { properties, required } = objectSchema.parse(z.toJSONSchema(query, { io: 'input' }));
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query' as const, required: required.includes(name) },
    ...(description !== undefined && { description }),
    schema,
    ...(queryExample[name] !== undefined && { example: queryExample[name] }),
  }));
}

function describeBody(route: Route, names: SchemaNames): Operation['requestBody'] {
  const { body, form, rawBody } = route;
  if (rawBody) return { required: true, content: { ...rawBody } };
  if (!body) return undefined;
  const schema = createReference(body, names.requests, route);
  const json = { 'application/json': { schema } };
  return { required: true, content: { ...json, ...(form && { 'multipart/form-data': describeForm(form, schema) }) } };
}

const describeForm = (text: string, contentSchema: object) => ({
  schema: {
    type: 'object' as const,
    properties: {
      files: { type: 'array' as const, maxItems: mostFiles, items: { type: 'string' as const, format: 'binary' } },
      [text]: { type: 'string' as const },
      body: {
        type: 'string' as const,
        description: 'The other fields as JSON.',
        contentMediaType: 'application/json',
        contentSchema,
      },
    },
  },
  example: { [text]: 'Sum up the attached sales.' },
});

const describeAnswers = (route: Route, names: SchemaNames): Operation['responses'] =>
  Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => {
      const { description = '', location, headers = [] } = answer;
      const sent = [...(location === undefined ? [] : ['Location']), ...headers];
      const described = Object.fromEntries(sent.map((name) => [name, { schema: { type: 'string' as const } }]));
      const content = describeContent(answer, names, route);
      return [status, { description, ...(content && { content }), ...(sent.length > 0 && { headers: described }) }];
    }),
  );

function describeContent({ body, csv, bytes, events }: AnswerDefinition, names: SchemaNames, route: Route) {
  const table = csv !== undefined && { 'text/csv': { schema: { type: 'string' as const }, example: csv } };
  if (body) return { 'application/json': { schema: createReference(body, names.answers, route) }, ...table };
  if (events) return { 'text/event-stream': { schema: createReference(events, names.answers, route) } };
  const binary = { schema: { type: 'string' as const, format: 'binary' } };
  return bytes && Object.fromEntries(bytes.map((type) => [type, binary]));
}

function createReference(schema: z.ZodType, names: ReadonlyMap<z.ZodType, string>, { id }: Route): { $ref: string } {
  const name = names.get(schema);
  if (name === undefined) throw new Error(`A schema of ${id} has no name.`);
  return { $ref: `${schemaPath}${name}` };
}

const ofEveryRoute = [
  'unauthorized',
  'forbidden',
  'invalid_request',
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ProblemCode[];

const ofBodies = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
  'too_many_bytes_in_flight',
] as const satisfies readonly ProblemCode[];

const ofForms = ['malformed_request', 'file_quota_exceeded'] as const satisfies readonly ProblemCode[];

const ofIdempotencyKeys = ['idempotency_in_flight', 'idempotency_key_reused'] as const satisfies readonly ProblemCode[];

/** What a route can answer: what follows from its fields, and what it says itself. */
function findProblems(route: Route): ReadonlySet<ProblemCode> {
  const { path, params, query, method, body, rawBody, form, storesAnswer, problems = [] } = route;
  if (!isUnderApi(route)) return new Set();
  const isRead = method === 'GET' || method === 'DELETE';
  return new Set([
    ...ofEveryRoute,
    ...readParams(path, params).flatMap(([, { unknown }]) => (unknown ? [unknown.code] : [])),
    ...(query?.shape['after'] ? (['invalid_cursor'] as const) : []),
    ...(isRead || rawBody || (method !== 'POST' && !body) ? [] : ofBodies),
    ...(form ? ofForms : []),
    ...(isIdempotent(route) ? ofIdempotencyKeys : []),
    ...(isIdempotent(route) && storesAnswer === false ? (['idempotency_key_used'] as const) : []),
    ...problems,
  ]);
}

function describeProblems(codes: ReadonlySet<ProblemCode>): Operation['responses'] {
  const raised = Object.entries(problemStatus).filter(([code]) => codes.has(code as ProblemCode)); // its own keys
  const statuses = [...new Set(raised.map(([, status]) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const names = raised.filter((problem) => problem[1] === status).map(([code]) => code);
      const description = `${STATUS_CODES[status]}: ${names.map((name) => `\`${name}\``).join(', ')}`;
      const examples = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]));
      const schema = { $ref: `${schemaPath}Problem` };
      return [status, { description, content: { 'application/problem+json': { schema, examples } } }];
    }),
  );
}
