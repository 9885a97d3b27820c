'use strict';
// Runs a program of run_program. Requests leave by descriptor 4, in lines that begin with a mark of this one program; answers come
// by descriptor 3. The first line there is the program itself.
const { writeSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Socket } = require('node:net');
const { createInterface } = require('node:readline');

const mark = process.argv[1];
const pieceLength = 3000;
let atOnce = 1;
let waiting = [];
let sent = [];

function write(piece) {
  for (;;) {
    try {
      return writeSync(4, piece);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function send(message) {
  const toEscape = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const text = JSON.stringify(message).replace(/[\u007f-\uffff]/g, toEscape);
  for (let at = 0; at < text.length; at += pieceLength) {
    const how = at + pieceLength >= text.length ? '.' : '+';
    write(`\n${mark}${how}${text.slice(at, at + pieceLength)}\n`);
  }
}

class ToolError extends Error {
  name = 'ToolError';
}

/** Calls of one turn of the event loop are sent together, the others when these are answered. */
function flush() {
  if (sent.length > 0 || waiting.length === 0) return;
  sent = waiting.splice(0, atOnce);
  send({ calls: sent.map(({ call }) => call) });
}

function receive(answers) {
  const answered = sent;
  sent = [];
  answered.forEach(({ resolve, reject }, index) => {
    const { success, output, error } = answers[index];
    if (success) resolve(output);
    else reject(new ToolError(error ?? output));
  });
  setImmediate(flush);
}

const callTool = (name, given = {}) =>
  new Promise((resolve, reject) => {
    waiting.push({ call: { name, arguments: JSON.parse(JSON.stringify(given)) }, resolve, reject });
    setImmediate(flush);
  });

const tools = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === 'string' && name !== 'then' ? (given) => callTool(name, given) : undefined),
  },
);

/** The same numbers each time that it is run. */
let seed = 1;
Math.random = () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

async function run({ source, at_once }) {
  atOnce = at_once;
  const AsyncFunction = run.constructor;
  try {
    const value = await new AsyncFunction('tools', 'ToolError', 'require', source)(
      tools,
      ToolError,
      createRequire(`${process.cwd()}/program.js`),
    );
    send({ end: value === undefined ? null : value });
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    process.exit(1);
  }
}

let hasBegun = false;
createInterface({ input: new Socket({ fd: 3, readable: true, writable: false }) }) // a file's read could not be interrupted at the end
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (hasBegun) receive(message);
    else void run(message);
    hasBegun = true;
  })
  .on('close', () => process.exit(1));
