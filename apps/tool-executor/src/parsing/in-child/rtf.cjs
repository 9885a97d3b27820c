'use strict';
const { TextDecoder } = require('node:util');
const { BoundedText } = require('./bounded-text.cjs');
const { Refusal } = require('./refusal.cjs');

/** A brace, a control word with its number, a byte in hexadecimal, a control sign, or text (RTF specification 1.9.1). */
const token = /([{}])|\\([a-zA-Z]+)(-?\d+)? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|[\r\n]+|([^{}\\\r\n]+)/g;

/** Groups that hold no text of the document. Neither does one that begins with `\*`. */
const unshown = new Set([
  ...['fonttbl', 'colortbl', 'stylesheet', 'info', 'pict', 'object', 'fldinst', 'themedata', 'datastore', 'generator'],
  ...['header', 'headerl', 'headerr', 'headerf', 'footer', 'footerl', 'footerr', 'footerf', 'listtable', 'revtbl'],
]);

const written = new Map(
  Object.entries({
    ...{ par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', cell: '\t', tab: '\t' },
    ...{ emdash: '—', endash: '–', bullet: '•', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”' },
  }),
);
const signs = new Map(
  Object.entries({ '~': '\u00a0', _: '\u2011', '\n': '\n', '\r': '\n', '{': '{', '}': '}', '\\': '\\' }),
);

const deepest = 1000;

/** The text of a document in Rich Text Format, without pictures, headers and footers. */
async function rtfText(bytes, { characters }) {
  const reader = new RtfReader(characters);
  const source = bytes.toString('latin1');
  token.lastIndex = 0;
  for (let found = token.exec(source); found && !reader.text.isFull; found = token.exec(source)) {
    const [, brace, word, number, hex, sign, plain] = found;
    if (brace === '{') reader.open();
    else if (brace === '}') reader.close();
    else if (word === 'bin') token.lastIndex += Number(number);
    else if (word) reader.control(word, Number(number));
    else if (hex) reader.add(reader.decoder.decode(Buffer.from(hex, 'hex'), { stream: true }));
    else if (sign === '*') reader.hide();
    else reader.add(plain ?? signs.get(sign) ?? '');
  }
  return { format: 'rtf', ...reader.text.result };
}

class RtfReader {
  #outer = [];
  #group = { isShown: true, fallback: 1 };
  /** How many characters are still to come that stand for the one of a `\u` before, for readers without Unicode. */
  #substitutes = 0;

  constructor(characters) {
    this.text = new BoundedText(characters);
    this.decoder = decoderFor(1252);
  }

  open() {
    if (this.#outer.length === deepest) throw new Refusal(`its groups are nested more than ${deepest} times`);
    this.#outer.push(this.#group);
    this.#group = { ...this.#group };
    this.#substitutes = 0;
  }

  close() {
    this.#group = this.#outer.pop() ?? this.#group;
    this.#substitutes = 0;
  }

  hide() {
    this.#group.isShown = false;
  }

  control(word, number) {
    if (word === 'ansicpg') this.decoder = decoderFor(number);
    else if (word === 'uc') this.#group.fallback = number;
    else if (word === 'u') {
      this.#substitutes = 0;
      this.add(String.fromCharCode(number & 0xffff));
      this.#substitutes = this.#group.fallback;
    } else if (unshown.has(word)) this.hide();
    else if (written.has(word)) this.add(written.get(word));
  }

  add(piece) {
    const shown = piece.slice(this.#substitutes);
    this.#substitutes -= piece.length - shown.length;
    if (this.#group.isShown) this.text.add(shown);
  }
}

/** A decoder for a code page of Windows; for one that is unknown, the usual one. */
function decoderFor(codePage) {
  const names = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8', 10000: 'macintosh' };
  try {
    return new TextDecoder(names[codePage] ?? `windows-${codePage}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}

module.exports = { rtfText };
