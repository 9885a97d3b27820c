'use strict';
const { DOMParser, parseHTML } = require('linkedom');
const { BoundedText } = require('./bounded-text.cjs');
const { textsIn } = require('./archive.cjs');

/** Headings, lists and tables as Markdown. Images are left out; macros and links to other files are ignored. */
async function wordText(bytes, { characters }) {
  const mammoth = require('mammoth');
  const { markdownOf } = require('./markdown.cjs');
  const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value: html } = await mammoth.convertToHtml({ buffer: bytes }, { convertImage });
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  return bounded('docx', characters, [markdownOf(document.body)]);
}

/** Each sheet as comma-separated values under its name. Formulas are shown as the values that were stored with them. */
async function sheetText(bytes, { characters }) {
  const { default: readSheets } = require('read-excel-file/node');
  const sheets = await readSheets(bytes);
  const text = new BoundedText(characters);
  for (const { sheet, data } of sheets) {
    text.add(`--- sheet ${sheet} ---\n`);
    for (const row of data) {
      if (text.isFull) break;
      text.add(`${row.map(cellText).join(',')}\n`);
    }
    text.add('\n');
  }
  return { format: 'xlsx', ...text.result };
}

function cellText(value) {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? value.toISOString().replace('T00:00:00.000Z', '') : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The paragraphs of each slide and of its notes, in the order of the files, which is the order of creation. */
async function slideText(bytes, { characters }) {
  const parts = await textsIn(bytes, /^ppt\/(slides\/slide|notesSlides\/notesSlide)\d+\.xml$/);
  const numbered = [...parts.keys()].map((name) => ({
    name,
    number: Number(/(\d+)\.xml$/.exec(name)[1]),
    label: name.startsWith('ppt/notes') ? 'notes' : 'slide',
  }));
  const ordered = numbered.sort((one, other) => one.number - other.number || (one.label === 'slide' ? -1 : 1));
  const texts = ordered.map(
    ({ name, number, label }) => `--- ${label} ${number} ---\n${paragraphs(parts.get(name))}\n\n`,
  );
  return bounded('pptx', characters, texts);
}

function paragraphs(xml) {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const lines = [...document.querySelectorAll('a\\:p')].map((paragraph) =>
    [...paragraph.querySelectorAll('a\\:t')].map(({ textContent }) => textContent).join(''),
  );
  return lines.filter((line) => line.trim() !== '').join('\n');
}

function bounded(format, characters, pieces) {
  const text = new BoundedText(characters);
  pieces.forEach((piece) => text.add(piece));
  return { format, ...text.result };
}

module.exports = { wordText, sheetText, slideText };
