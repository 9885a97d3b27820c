import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/**
 * Usage: node validate-documents.mjs openapi.json asyncapi.json. Prints what is wrong, and then exits with 1. A script, because
 * the validator is an ES module, which Jest does not import.
 */
const [openapi, asyncapi] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const problems = [...(await openApiErrors(openapi)), ...asyncApiErrors(asyncapi)];
for (const problem of problems) console.error(JSON.stringify(problem));
process.exitCode = problems.length > 0 ? 1 : 0;

/** Against the official schema of the version that the document names, with its references resolved. */
async function openApiErrors(document) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  if (!valid) return [errors].flat();
  validator.resolveRefs();
  return [];
}

function asyncApiErrors(document) {
  const schema = createRequire(import.meta.url)(`@asyncapi/specs/schemas/${document.asyncapi}-without-$id.json`);
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default(ajv);
  const validate = ajv.compile(schema);
  validate(document);
  return [...(validate.errors ?? []), ...unresolvedReferences(document)];
}

/** The official schema checks the form of references, not their targets. */
function unresolvedReferences(document) {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path);
  const resolve = (path) => path.split('/').reduce((value, key) => value?.[key], document);
  return references.filter((path) => resolve(path) === undefined).map((path) => ({ unresolved: path }));
}
