'use strict';
const { createInterface } = require('node:readline');
const Draft7 = require('ajv').default;
const Draft2019 = require('ajv/dist/2019').default;
const Draft2020 = require('ajv/dist/2020').default;

/**
 * A process that checks JSON Schemas of MCP servers, and values against them. Each line of input is a list of checks; each
 * check is answered by a line. Its parent ends it when that takes too long. It has no environment and no access to files but
 * its own code: a schema becomes code here, and nowhere else.
 */
const shownProblems = 5;

/** Formats say what a value means; whether it is one, the server decides. */
const usual = { strict: false, validateFormats: false, logger: false };
const bounded = { validateSchema: false, meta: false, inlineRefs: false, ownProperties: true, allErrors: true };

/** Servers that write `^[\w-.]+$` exist: it is a pattern, though not one with the flag `u`. */
const toPattern = (pattern, flags) => {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
};
toPattern.code = 'new RegExp';

const toDialect = (Validator) => ({
  meta: new Validator(usual),
  compile: (schema) => new Validator({ ...usual, ...bounded, code: { regExp: toPattern } }).compile(schema),
});
const [draft7, draft2019, draft2020] = [Draft7, Draft2019, Draft2020].map(toDialect);

const dialects = [
  [/^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/, [draft7]],
  [/^https:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/, [draft2019]],
  [/^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, [draft2020]],
];

/** A schema that names no dialect is of the newest one, unless it is only valid in the one that most libraries write. */
function candidatesFor(name) {
  if (name === undefined) return [draft2020, draft7];
  return dialects.find(([pattern]) => pattern.test(name))?.[1] ?? [];
}

function compiled({ $schema: name, ...schema }) {
  const candidates = candidatesFor(name);
  if (candidates.length === 0) return { problem: 'is of a dialect of JSON Schema that is not known' };
  const dialect = candidates.find(({ meta }) => meta.validateSchema(schema));
  if (!dialect) return { problem: 'is no valid JSON Schema' };
  try {
    const validate = dialect.compile(schema);
    return validate.$async ? { problem: 'is no valid JSON Schema' } : { validate };
  } catch (error) {
    return { problem: `cannot be used: ${error.message.slice(0, 200)}` };
  }
}

function answerTo({ schema, value }) {
  const { validate, problem } = compiled(schema);
  if (problem !== undefined) return { schema: problem };
  try {
    return validate(value ? value.given : {}) || !value
      ? {}
      : { value: validate.errors.slice(0, shownProblems).map(problemIn) };
  } catch {
    return { schema: 'refers to itself without end, or is too deeply nested' };
  }
}

const problemIn = ({ instancePath, message, params }) => ({
  at: instancePath,
  problem: `${message}${params.additionalProperty === undefined ? '' : `: ${params.additionalProperty}`}`,
});

process.stdout.write('ready\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  for (const check of JSON.parse(line)) process.stdout.write(`${JSON.stringify(answerTo(check))}\n`);
});
