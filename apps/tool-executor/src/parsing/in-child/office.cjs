'use strict';
const { unzipSync, zipSync } = require('fflate');
const { DOMParser, parseHTML } = require('linkedom');
const { BoundedText } = require('./bounded-text.cjs');
const { textsIn } = require('./archive.cjs');
const { withEquationsAsText } = require('./equations.cjs');

/**
 * Headings, lists, tables, footnotes and comments as Markdown, equations as text, and the values of charts. Images are left
 * out; macros and links to other files are ignored.
 */
async function wordText(bytes, { characters }) {
  const mammoth = require('mammoth');
  const { toMarkdownText } = require('./markdown.cjs');
  const options = {
    convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
    styleMap: ['comment-reference => sup'],
  };
  const { value: html } = await mammoth.convertToHtml({ buffer: withReadableEquations(bytes) }, options);
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  for (const link of document.querySelectorAll('a[href^="#comment-"]'))
    link.replaceWith(link.textContent === '↑' ? '' : link.textContent);
  const charts = await textsIn(bytes, /^word\/charts\/chart\d+\.xml$/);
  return bounded('docx', characters, [
    toMarkdownText(document.body),
    ...[...charts.values()].map((xml) => `\n\n${chartText(xml)}`),
  ]);
}

/** The document with runs of text in the place of its equations, which have no text for its reader. */
function withReadableEquations(bytes) {
  const parts = unzipSync(bytes);
  const xml = Buffer.from(parts['word/document.xml']).toString();
  if (!xml.includes('<m:oMath')) return bytes;
  const readable = withEquationsAsText(xml, (text) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`);
  return Buffer.from(zipSync({ ...parts, 'word/document.xml': Buffer.from(readable) }, { level: 0 }));
}

/** The values of a chart as comma-separated values: a row for the categories, and one for each series. */
function chartText(xml) {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const values = (element) => [...element.querySelectorAll('c\\:v')].map(({ textContent }) => textContent);
  const named = (series, ...names) =>
    names.flatMap((name) => [...series.querySelectorAll(`c\\:${name}`)]).flatMap(values);
  const all = [...document.querySelectorAll('c\\:ser')];
  const categories = all.map((series) => named(series, 'cat', 'xVal')).find((labels) => labels.length > 0);
  const rows = all.map((series) => [named(series, 'tx').join(' '), ...named(series, 'val', 'yVal')]);
  const title = [...document.querySelectorAll('c\\:title a\\:t')].map(({ textContent }) => textContent).join('');
  const lines = [...(categories ? [['', ...categories]] : []), ...rows].map((row) => row.map(cellText).join(','));
  return `--- chart${title && ` ${title}`} ---\n${lines.join('\n')}\n`;
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

/** The paragraphs of each slide and of its notes, in the order of the files, which is the order of creation; then charts and comments. */
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
  const charts = await textsIn(bytes, /^ppt\/charts\/chart\d+\.xml$/);
  const comments = await textsIn(bytes, /^ppt\/comments\/\w+\.xml$/);
  const said = [...comments.values()].map(commentTexts).filter((text) => text !== '');
  return bounded('pptx', characters, [
    ...texts,
    ...[...charts.values()].map((xml) => `${chartText(xml)}\n`),
    ...(said.length > 0 ? [`--- comments ---\n${said.join('\n')}\n`] : []),
  ]);
}

/** The comments of a file: `p:text` in those of before 2021, paragraphs since. */
function commentTexts(xml) {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const old = [...document.querySelectorAll('p\\:text')].map(({ textContent }) => textContent);
  return old.length > 0 ? old.join('\n') : paragraphs(xml);
}

function paragraphs(given) {
  const xml = withEquationsAsText(given, (text) => `<a:r><a:t>${text}</a:t></a:r>`);
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
