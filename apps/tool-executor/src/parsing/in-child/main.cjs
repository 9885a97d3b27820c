'use strict';
const { buffer } = require('node:stream/consumers');
const { Refusal } = require('./refusal.cjs');

/**
 * A process that reads one hostile input and ends. Input: a line of JSON, then the bytes. Output: the same. Its parent
 * limits its time and memory, and it has no environment, no network use and no access to files but its own code.
 */
const converters = {
  page: () => require('./page.cjs').convertPage,
  document: () => require('./document.cjs').convertDocument,
  image: () => require('./image.cjs').convertImage,
};

async function answerTo({ kind, ...options }, bytes) {
  try {
    return await converters[kind]()(bytes, options);
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.message };
    return { problem: 'it is damaged, or not what its name says', cause: String(error).slice(0, 500) };
  }
}

async function main() {
  const input = await buffer(process.stdin);
  const end = input.indexOf(10);
  const { bytes = Buffer.alloc(0), ...answer } = await answerTo(
    JSON.parse(input.subarray(0, end).toString()),
    input.subarray(end + 1),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  process.stdout.write(bytes, () => process.exit(0)); // a parser may have left something open
}

void main();
