const { appendFileSync } = require('node:fs');
const { join } = require('node:path');
const pg = require('pg');

/**
 * Loaded by jest before each spec file of libs/persistence while a release is recorded. Records every statement that the
 * library sends, without its values. Statements of the specs themselves are skipped, because no service sends them.
 */
const file = join(process.env.RECORD_RELEASE, `statements-${process.pid}.jsonl`);

const readsOrWrites = /^\s*(?:with|select|insert|update|delete)\b/i;
const ofLibrary = /\/libs\/persistence\/src\/(?!sql\.ts)/;
const ofSpec = /\.spec\.ts|\/testing\//;

function note(query) {
  const text = typeof query === 'string' ? query : query?.text;
  if (!readsOrWrites.test(text ?? '')) return;
  const caller = new Error().stack.split('\n').find((line) => ofLibrary.test(line));
  if (caller && ofSpec.test(caller)) return;
  appendFileSync(file, `${JSON.stringify(text)}\n`);
}

for (const { prototype } of [pg.Pool, pg.Client]) {
  const { query } = prototype;
  prototype.query = function (...request) {
    // A pool passes its statements to a client with a callback; those have been recorded already.
    if (!request.some((part) => typeof part === 'function')) note(request[0]);
    return query.apply(this, request);
  };
}
