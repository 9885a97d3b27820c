import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { repoRoot } from '../repo-root.mjs';

/**
 * Usage: node client-types.mjs [--check]. Writes the types and the routes of @rondo/client, or says that they are out of date.
 * The gateway and the contract must have been built.
 */
const load = async (path) => (await import(pathToFileURL(join(repoRoot, path)))).default;
const gateway = await load('apps/gateway/dist/docs/openapi.js');
const { apiRoutes, pathParams } = await load('libs/contract/dist/api/index.js');
const document = JSON.parse(JSON.stringify(gateway.describeApi()));

/** Only the schemas: requests are described by the routes. */
async function schemaTypes() {
  const types = await openapiTypescript(
    { ...document, paths: {} },
    {
      defaultNonNullable: false, // a field with a default can be left out of a request
      exportType: true,
      rootTypes: true,
      rootTypesNoSchemaPrefix: true,
      rootTypesKeepCasing: true,
    },
  );
  return `${COMMENT_HEADER}${astToString(types)}`;
}

/** The routes that need a key: method and path, and for the compiler what they take and answer. */
function routeTable() {
  const routes = Object.values(apiRoutes).filter(({ role }) => role !== 'open');
  return [
    '/** Generated from the routes of the API: `npm run docs` writes this file anew. */',
    "import type { Route } from '../resource.ts';",
    "import type * as Api from './api.ts';",
    '\nexport interface PageQuery {\n  readonly limit?: number;',
    '  /** The `next_cursor` of the page before. */\n  readonly after?: string;\n}',
    ...routes.map((route) => `\n${queryType(route)}${describeRoute(route)}`),
    '',
  ].join('\n');
}

const toQueryName = ({ id, query }) =>
  Object.keys(query.shape).join() === 'limit,after' ? 'PageQuery' : `${id[0].toUpperCase()}${id.slice(1)}Query`;

/** The parameters of a query as a client writes them: truth values and numbers as such, everything else as text. */
function queryType(route) {
  if (!route.query || toQueryName(route) === 'PageQuery') return '';
  const described = document.paths[route.path][route.method.toLowerCase()].parameters;
  const fields = described.flatMap(({ name, in: place, required, description, schema }) => {
    if (place !== 'query') return [];
    const isTruth = typeof route.query.shape[name].safeParse('true').data === 'boolean';
    const type = isTruth ? 'boolean' : (schema.enum?.map((value) => `'${value}'`).join(' | ') ?? toSimpleType(schema));
    const optional = required ? '' : '?';
    return [...(description ? [`  /** ${description} */`] : []), `  readonly ${name}${optional}: ${type};`];
  });
  return `export interface ${toQueryName(route)} {\n${fields.join('\n')}\n}\n`;
}

const toSimpleType = ({ type }) => (type === 'integer' || type === 'number' ? 'number' : 'string');

function describeRoute(route) {
  const { method, path, id, storesAnswer } = route;
  const { requestBody, responses } = document.paths[path][method.toLowerCase()];
  const body = readSchemaName(requestBody);
  const takes = [...(route.query ? ['query'] : []), ...(body ? ['body'] : [])].join(' and ');
  const success = responses[Object.keys(route.answers)[0]];
  const bytes = Object.values(route.answers).some((answer) => answer.bytes ?? answer.events);
  const answer = readSchemaName(success);
  const types = [
    `params: [${toParams(route)}]`,
    ...(route.query ? [`query: ${toQueryName(route)}`] : []),
    ...(body ? [`body: Api.${body}`] : []),
    `answer: ${bytes ? 'Response' : answer ? `Api.${answer}` : 'void'}`,
  ];
  const fields = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    `path: '${path.replaceAll(/\{\w+\}/g, '{}')}'`,
    ...(takes === '' ? [] : [`takes: '${takes}'`]),
    ...(bytes ? ["answers: 'bytes'"] : answer ? [] : ["answers: 'nothing'"]),
    ...(method === 'POST' && storesAnswer === false ? ['repeatable: false'] : []),
  ];
  return `export const ${id}: Route<{ ${types.join('; ')} }> = { ${fields.join(', ')} };`;
}

const readSchemaName = (described) => described?.content?.['application/json']?.schema.$ref?.split('/').pop();

/** Labelled as in the path, for example `agentId: string, version: number`. */
function toParams({ path, params = {} }) {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
  const labelled = names.map((name) => {
    const { schema, example } = params[name] ?? pathParams[name];
    const label = name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
    return `${label}: ${typeof schema.parse(example)}`;
  });
  return labelled.join(', ');
}

const files = { 'api.ts': await schemaTypes(), 'routes.ts': routeTable() };
for (const [name, text] of Object.entries(files)) {
  const file = join('libs/client/src/generated', name);
  if (!process.argv.includes('--check')) writeFileSync(join(repoRoot, file), text);
  else if (readFileSync(join(repoRoot, file), 'utf8') !== text) {
    console.error(`${file} is not what the OpenAPI document describes: npm run docs writes it anew.`);
    process.exit(1);
  }
}
process.exit(0); // the gateway still tries to connect
