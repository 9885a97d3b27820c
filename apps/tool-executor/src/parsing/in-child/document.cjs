'use strict';
const { checkedNames } = require('./archive.cjs');
const { Refusal } = require('./refusal.cjs');

/** The text of a document. What it is, its bytes say: a name is only a name. */
async function convertDocument(bytes, limits) {
  if (bytes.subarray(0, 1024).includes('%PDF-')) return require('./pdf.cjs').pdfText(bytes, limits);
  if (bytes.subarray(0, 5).toString('latin1') === '{\\rtf') return require('./rtf.cjs').rtfText(bytes, limits);
  if (bytes.subarray(0, 4).equals(Buffer.from('d0cf11e0', 'hex'))) {
    throw new Refusal('it is encrypted, or in the binary format of before 2007 (doc, xls, ppt): save it anew');
  }
  if (!bytes.subarray(0, 2).equals(Buffer.from('PK'))) throw new Refusal('it is neither text nor a known document');

  const names = new Set(await checkedNames(bytes));
  if (names.has('word/document.xml')) return require('./office.cjs').wordText(bytes, limits);
  if (names.has('xl/workbook.xml')) return require('./office.cjs').sheetText(bytes, limits);
  if (names.has('ppt/presentation.xml')) return require('./office.cjs').slideText(bytes, limits);
  throw new Refusal('it is an archive, not a document: unpack it with execute_command');
}

module.exports = { convertDocument };
