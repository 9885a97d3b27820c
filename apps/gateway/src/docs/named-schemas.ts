import * as contract from '@rondo/contract';
import { apiSchemas, pascalCase } from '@rondo/contract/api';
import { z } from 'zod';
import { problemBody } from '../problems/problems';
import type { SchemaNames } from './describe-routes';
import { type JsonSchema, schemaPath, withDiscriminators } from './discriminators';
import { refusedAcknowledgement, socketMessages } from './socket-schemas';

type Schemas = Readonly<Record<string, z.ZodType>>;

/** Those of the resources whose routes are data. */
const byRoutes = {
  shared: merge(apiSchemas.map(({ shared: given }) => given)),
  requests: merge(apiSchemas.map(({ requests: given }) => given)),
  answers: merge(apiSchemas.map(({ answers: given }) => given)),
};

function merge(schemas: readonly (Schemas | undefined)[]): Schemas {
  return Object.assign({}, ...schemas) as Schemas; // of schemas only
}

/** Types without defaults, which are the same in requests and responses. */
const shared: Schemas = {
  ...byRoutes.shared,
  ToolCallOutcome: contract.resolution,
  ApprovalRule: contract.approvalRule,
  ApprovalSettings: contract.approvalSettings,
};

const responses: Schemas = {
  ...shared,
  ...byRoutes.answers,
  Problem: problemBody,
  ApprovalOutcome: contract.approvalOutcome,
  AwaitedApproval: contract.awaitedApproval,
  RefusedAcknowledgement: refusedAcknowledgement,
  ...socketSchemas('Acknowledgement', ({ acknowledgement }) => acknowledgement),
};

const requests: Schemas = {
  ...shared,
  ...byRoutes.requests,
  ...socketSchemas('Message', ({ schema }) => schema),
};

/** `run.subscribe` has the schemas `RunSubscribeMessage` and `RunSubscribeAcknowledgement`. */
function socketSchemas(
  suffix: 'Message' | 'Acknowledgement',
  schemaOf: (message: (typeof socketMessages)[keyof typeof socketMessages]) => z.ZodType,
): Schemas {
  const entries = Object.entries(socketMessages);
  return Object.fromEntries(entries.map(([name, message]) => [`${pascalCase(name)}${suffix}`, schemaOf(message)]));
}

const createNames = (schemas: Schemas): ReadonlyMap<z.ZodType, string> =>
  new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));

/** The names of all schemas, as requests and as answers have them. */
export const schemaNames: SchemaNames = { requests: createNames(requests), answers: createNames(responses) };

/**
 * JSON Schema of everything that the API accepts and sends, by names that generated clients can use. Each type is described
 * once; others refer to it. In the order of the names, so that moving one changes no generated file. A field with a default is optional in requests and required in responses.
 */
export function namedSchemas(): Readonly<Record<string, JsonSchema>> {
  const schemas = { ...jsonSchemas(requests, 'input'), ...jsonSchemas(responses, 'output') };
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  return withDiscriminators(Object.fromEntries(sorted));
}

function jsonSchemas(schemas: Schemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const options = { io, uri: (id: string) => `${schemaPath}${id}`, override: withoutDatePattern };
  return Object.fromEntries(
    Object.entries(z.toJSONSchema(registry, options).schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [
      id,
      schema,
    ]),
  );
}

/** zod adds a regular expression of 400 characters to `format: date-time`, with the same meaning. */
function withoutDatePattern({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}
