'use strict';
const { DOMParser } = require('linkedom');

const equation = /<m:oMath(?:\s[^>]*)?>.*?<\/m:oMath>/gs;
const marks = /<\/?m:oMathPara(?:\s[^>]*)?>|<m:oMathParaPr(?:\s[^>]*)?>.*?<\/m:oMathParaPr>/gs;

/** The XML with each equation (Office Math, ECMA-376 part 1, 22.1) as `textAs` writes its text: `(a+b)/2`, `x^2`, `√(x)`. */
const withEquationsAsText = (xml, textAs) =>
  xml.replaceAll(marks, '').replaceAll(equation, (found) => textAs(escaped(equationText(found))));

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const equationText = (xml) => linear(new DOMParser().parseFromString(xml, 'text/xml').documentElement);

/** What is more than one sign stands in brackets, so that it is clear how far an operator reaches. */
const grouped = (text) => (/^.?$/su.test(text) || /^\w+$/.test(text) ? text : `(${text})`);

const raised = (text) => (text === '' ? '' : `^${grouped(text)}`);
const lowered = (text) => (text === '' ? '' : `_${grouped(text)}`);

/** How an element is written, from `part(name)`, the text of its child of that name, and `mark(name)`, a property's sign. */
const forms = {
  'm:f': ({ part }) => `${grouped(part('num'))}/${grouped(part('den'))}`,
  'm:sSup': ({ part }) => `${grouped(part('e'))}${raised(part('sup'))}`,
  'm:sSub': ({ part }) => `${grouped(part('e'))}${lowered(part('sub'))}`,
  'm:sSubSup': ({ part }) => `${grouped(part('e'))}${lowered(part('sub'))}${raised(part('sup'))}`,
  'm:sPre': ({ part }) => `${lowered(part('sub'))}${raised(part('sup'))} ${grouped(part('e'))}`,
  'm:rad': ({ part }) => `${part('deg') === '' ? '' : `${part('deg')} `}√(${part('e')})`,
  'm:nary': ({ part, mark }) => `${mark('chr') ?? '∫'}${lowered(part('sub'))}${raised(part('sup'))} ${part('e')}`,
  'm:func': ({ part }) => `${part('fName')}(${part('e')})`,
  'm:limLow': ({ part }) => `${part('e')}${lowered(part('lim'))}`,
  'm:limUpp': ({ part }) => `${part('e')}${raised(part('lim'))}`,
  'm:d': ({ parts, mark }) =>
    `${mark('begChr') ?? '('}${parts('e').join(mark('sepChr') ?? '|')}${mark('endChr') ?? ')'}`,
  'm:m': ({ rows }) => `[${rows.join('; ')}]`,
  'm:eqArr': ({ parts }) => parts('e').join('; '),
};

function linear(element) {
  const children = [...element.children];
  const named = (name, of = children) => of.filter(({ tagName }) => tagName === `m:${name}`);
  const parts = (name) => named(name).map(linear);
  const properties = children.filter(({ tagName }) => tagName.endsWith('Pr'));
  const form = forms[element.tagName];
  if (form) {
    return form({
      parts,
      part: (name) => parts(name).join(''),
      mark: (name) => properties.flatMap((all) => named(name, [...all.children]))[0]?.getAttribute('m:val'),
      rows: named('mr').map((row) => [...row.children].map(linear).join(', ')),
    });
  }
  if (element.tagName === 'm:t' || element.tagName === 'w:t') return element.textContent;
  return children
    .filter((child) => !properties.includes(child))
    .map(linear)
    .join('');
}

module.exports = { withEquationsAsText };
