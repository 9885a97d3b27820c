import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTypescript, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { repoRoot } from './repo-root.mjs';

/**
 * Usage: node client-types.mjs [--check]. Writes the types of @rondo/client from the OpenAPI document, or says that they are
 * out of date. The gateway must have been built.
 */
const file = join(repoRoot, 'libs/client/src/generated/api.ts');

/** Only the schemas: the requests are written by hand. */
async function generatedTypes() {
  const { default: gateway } = await import(pathToFileURL(join(repoRoot, 'apps/gateway/dist/docs/openapi.js')));
  const document = JSON.parse(JSON.stringify(gateway.describeApi()));
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

const text = await generatedTypes();
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error(
    'libs/client/src/generated/api.ts is not what the OpenAPI document describes: npm run docs writes it anew.',
  );
  process.exit(1);
}
process.exit(0); // the gateway still tries to connect
