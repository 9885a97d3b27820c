'use strict';
const { getDocumentProxy } = require('unpdf');
const { BoundedText } = require('./bounded-text.cjs');
const { Refusal } = require('./refusal.cjs');

/** The text of each page, under a line with its number. Scripts of the document are not run. */
async function pdfText(bytes, { characters, pages }) {
  const pdf = await open(bytes);
  const text = new BoundedText(characters);
  let letters = 0;
  const shown = Math.min(pdf.numPages, pages);
  for (let number = 1; number <= shown && !text.isFull; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const written = items.map(({ str = '', hasEOL }) => `${str}${hasEOL ? '\n' : ''}`).join('');
    letters += written.trim().length;
    text.add(`--- page ${number} ---\n${written.trim()}\n\n`);
    page.cleanup();
  }
  if (letters === 0) throw new Refusal('none of its pages has text: it may be scanned, so look at it as images');
  const { text: all, truncated } = text.result;
  return { format: 'pdf', text: all, truncated: truncated || shown < pdf.numPages };
}

async function open(bytes) {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, stopAtErrors: false });
  } catch (error) {
    if (error?.name === 'PasswordException') throw new Refusal('it is encrypted: a password is needed');
    throw error;
  }
}

module.exports = { pdfText };
