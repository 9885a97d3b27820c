'use strict';
const { Readability } = require('@mozilla/readability');
const { parseHTML } = require('linkedom');
const { toMarkdownText } = require('./markdown.cjs');
const { Refusal } = require('./refusal.cjs');

const mostElements = 50_000;
/** Finding the main text of a larger page takes too long, so all of it is shown. */
const mostElementsOfArticle = 30_000;
/** Less text than this is no article: the whole page is shown instead. */
const leastArticle = 250;
/** A page with scripts and less text than this gets its text from them. */
const leastText = 200;
const notContent = 'title,script,style,template,iframe,object,embed,svg,canvas,form input,select,button';

/** The main text of a page as Markdown, with absolute links. */
function convertPage(bytes, { url }) {
  const html = bytes.toString();
  const elements = (html.match(/<[a-z]/gi) ?? []).length;
  if (elements > mostElements) throw new Refusal(`it has ${elements} elements; the limit is ${mostElements}`);

  const { document } = parseHTML(html.includes('<html') ? html : `<html><body>${html}</body></html>`);
  const title = readText(document.querySelector('title')) || readText(document.querySelector('h1'));
  const scripts = document.querySelectorAll('script').length;
  const shownWithoutScripts = readText(document.querySelector('noscript'));
  document.querySelectorAll(`${notContent},noscript`).forEach((element) => element.remove());
  makeAbsolute(document, url);
  const whole = readText(document.body);
  const isSearched = whole.length > leastArticle && elements <= mostElementsOfArticle;
  const article = isSearched ? findArticle(document) : undefined;
  return {
    title,
    markdown: toMarkdownText(article ?? document.body),
    needsJavaScript: whole.length < leastText && (scripts > 0 || /javascript/i.test(shownWithoutScripts)),
  };
}

/** Readability changes the document that it reads. */
function findArticle(document) {
  const copy = parseHTML(document.toString()).document;
  const article = new Readability(copy).parse();
  if (!article?.content || article.textContent.trim().length < leastArticle) return undefined;
  return parseHTML(`<html><body>${article.content}</body></html>`).document.body;
}

function makeAbsolute(document, url) {
  const base = absolute(document.querySelector('base')?.getAttribute('href'), url) ?? url;
  for (const [selector, attribute] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ]) {
    for (const element of document.querySelectorAll(selector)) {
      const found = base && absolute(element.getAttribute(attribute), base);
      if (found) element.setAttribute(attribute, found);
      else element.removeAttribute(attribute);
    }
  }
}

/** Only what can be visited: no `javascript:`, no `data:`. */
function absolute(reference, base) {
  if (!reference || !URL.canParse(reference, base)) return undefined;
  const { protocol, href } = new URL(reference, base);
  return protocol === 'http:' || protocol === 'https:' ? href : undefined;
}

const readText = (element) => (element?.textContent ?? '').replace(/\s+/g, ' ').trim();

module.exports = { convertPage };
