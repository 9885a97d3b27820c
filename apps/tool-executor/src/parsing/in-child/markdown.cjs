'use strict';
const TurndownService = require('turndown');

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });

turndown.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) =>
    ` ${content
      .replace(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|')
      .trim()} |`,
});
turndown.addRule('row', {
  filter: 'tr',
  replacement: (content, row) => `|${content.trimEnd()}\n${isFirst(row) ? `|${' --- |'.repeat(cellsIn(row))}\n` : ''}`,
});
turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
turndown.addRule('partOfTable', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
turndown.addRule('image', {
  filter: 'img',
  replacement: (_, image) => {
    const [text, source] = ['alt', 'src'].map((name) => image.getAttribute(name)?.trim() ?? '');
    return text && source ? `![${text.replace(/\s+/g, ' ')}](${source})` : '';
  },
});

const cellsIn = (row) => row.querySelectorAll('td,th').length;

/** The first row of a table is its head, whatever part of the table it is in. */
const isFirst = (row) => row.closest('table')?.querySelector('tr') === row;

/** The element as Markdown, without long runs of empty lines. */
const toMarkdownText = (element) =>
  turndown
    .turndown(element)
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

module.exports = { toMarkdownText };
