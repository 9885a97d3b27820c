/**
 * How fast the dialects read; needs a build. Each figure stands beside a loop that only copies the same chunks into one
 * text, measured right before it, because a machine's mood changes.
 */
import { createRequire } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const dist = process.argv[2] ?? fileURLToPath(new URL('../dist', import.meta.url));
const load = createRequire(import.meta.url);
const { tools } = load(`${dist}/tools/catalog.js`);
const { nativeDialect } = load(`${dist}/dialects/native.js`);
const { xmlInvokeDialect } = load(`${dist}/dialects/xml-invoke.js`);
const { xmlTagDialect } = load(`${dist}/dialects/xml-tag.js`);
const { jsonDialect } = load(`${dist}/dialects/json-mode.js`);

const megabyte = 1_000_000;
const settings = { xml_adding_strategy: 'user_message', include_xml_examples: false, max_tool_calls: 0 };
const page = '<section class="row">\n  <p>Tea &amp; toast, 3 < 4, it\'s "fine" 🍵</p>\n  <br/>\n</section>\n';

const filled = (size, unit) => unit.repeat(Math.ceil(size / unit.length));
const asText = (text) => ({ type: 'text', text });

/** Replies of about `size` characters: one that writes a long file, one of many small calls. */
const dialects = {
  native: {
    dialect: nativeDialect,
    begin: [{ type: 'call_start', index: 0, name: 'create_file' }],
    chunk: (text) => ({ type: 'call_arguments', index: 0, text }),
    file: (size) => JSON.stringify({ file_path: 'a.html', file_contents: filled(size, page) }),
  },
  xml_invoke: {
    dialect: xmlInvokeDialect,
    file: (size) =>
      `On it.\n<function_calls>\n<invoke name="create_file">\n<parameter name="file_path">a.html</parameter>\n` +
      `<parameter name="file_contents">\n${filled(size, page)}\n</parameter>\n</invoke>\n</function_calls>\n`,
    calls: (size) =>
      `<function_calls>\n${filled(size, '<invoke name="read_file">\n<parameter name="file_path">a.txt</parameter>\n<parameter name="end_line">9</parameter>\n</invoke>\n')}</function_calls>`,
  },
  xml_tag: {
    dialect: xmlTagDialect,
    file: (size) => `On it.\n<create-file file_path="a.html">\n${filled(size, page)}\n</create-file>\n`,
    calls: (size) => filled(size, '<read-file file_path="a.txt" end_line="9"/>\n'),
  },
  json: {
    dialect: jsonDialect,
    file: (size) =>
      JSON.stringify({ tool_name: 'create_file', parameters: { file_path: 'a', file_contents: filled(size, page) } }),
    calls: (size) => filled(size, '{"tool_name":"read_file","parameters":{"file_path":"a.txt","end_line":9}}\n'),
    words: (size) => JSON.stringify({ tool_name: 'none', response: filled(size, page) }),
  },
};

/** What tries to make a decoder look again and again. */
const hostile = {
  '<': '<',
  '</parameter': '</parameter',
  '</parameter>\\n': '</parameter>\n',
  '<create-file x="': '<create-file x="',
  ']]': ']]',
  '{"': '{"',
};

const split = (text, size) => {
  const chunks = [];
  for (let at = 0; at < text.length; at += size) chunks.push(text.slice(at, at + size));
  return chunks;
};

const timed = (work) => {
  const from = process.hrtime.bigint();
  const result = work();
  return { seconds: Number(process.hrtime.bigint() - from) / 1e9, result };
};

const best = (work, times = 5) =>
  Array.from({ length: times }, () => timed(work)).reduce((a, b) => (a.seconds < b.seconds ? a : b));

const copy = (chunks) => {
  const pieces = [];
  for (const chunk of chunks) pieces.push(chunk);
  return pieces.join('').length;
};

function decode({ dialect, begin = [], chunk = asText }, chunks) {
  const decoder = dialect.decoder(tools, settings);
  for (const first of begin) decoder.push(first);
  let shown = 0;
  for (const text of chunks) for (const piece of decoder.push(chunk(text))) shown += piece.text.length;
  return { calls: decoder.end().calls.length, shown };
}

function measure(reader, text, size) {
  const chunks = split(text, size);
  const copied = best(() => copy(chunks));
  const decoded = best(() => decode(reader, chunks));
  return {
    'MB/s': +(text.length / megabyte / decoded.seconds).toFixed(1),
    'calls/s': Math.round(decoded.result.calls / decoded.seconds),
    'times a copy loop': +(decoded.seconds / copied.seconds).toFixed(1),
    seconds: decoded.seconds,
  };
}

const withoutSeconds = ({ seconds: _, ...row }) => row;

const rows = {};
for (const [name, reader] of Object.entries(dialects)) {
  for (const kind of ['file', 'calls', 'words']) {
    if (!reader[kind]) continue;
    for (const size of [1, 16, 4096])
      rows[`${name}, ${kind}, chunks of ${size}`] = withoutSeconds(measure(reader, reader[kind](4 * megabyte), size));
  }
}
console.log('Throughput, 4 MB');
console.table(rows);

const growth = {};
for (const [name, reader] of Object.entries(dialects)) {
  const kinds = { file: reader.file, ...(reader.calls && { calls: reader.calls }) };
  if (name !== 'native')
    for (const [label, unit] of Object.entries(hostile)) kinds[`hostile ${label}`] = hostileReply(reader, unit);
  for (const [kind, write] of Object.entries(kinds)) {
    const small = measure(reader, write(megabyte), 16);
    const large = measure(reader, write(10 * megabyte), 16);
    growth[`${name}, ${kind}`] = {
      'MB/s at 10 MB': large['MB/s'],
      'cost of 10 MB / 10 × 1 MB': +(large.seconds / small.seconds / 10).toFixed(2),
    };
  }
}
console.log('Linearity, chunks of 16');
console.table(growth);

/** The unit in the middle of a value, where a decoder is most tempted. */
function hostileReply(reader, unit) {
  return (size) => {
    const [before, after] = reader.file(1).split(page.trimEnd().slice(0, 9), 2);
    return `${before}${filled(size, unit)}${after}`;
  };
}
