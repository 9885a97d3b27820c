import { createZip } from './zip';

const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelationships = 'http://schemas.openxmlformats.org/package/2006/relationships';
const contentTypes = 'http://schemas.openxmlformats.org/package/2006/content-types';

/** The smallest files that Word, Excel and PowerPoint would write, as far as readers of them need it. */
const createPackage = (main: string, parts: Readonly<Record<string, string>>): Buffer =>
  createZip(
    Object.fromEntries(
      Object.entries({
        '[Content_Types].xml': `<Types xmlns="${contentTypes}"><Default Extension="xml" ContentType="application/xml"/></Types>`,
        '_rels/.rels': toRelationships([{ id: 'rId1', type: 'officeDocument', target: main }]),
        ...parts,
      }).map(([name, text]) => [name, Buffer.from(text)]),
    ),
  );

interface Relationship {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

const toRelationships = (all: readonly Relationship[]): string =>
  `<Relationships xmlns="${packageRelationships}">${all
    .map(({ id, type, target }) => `<Relationship Id="${id}" Type="${relationships}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

interface WordContent {
  readonly heading: string;
  readonly paragraph: string;
  readonly cells: readonly string[];
}

export function wordFile({ heading, paragraph, cells }: WordContent): Buffer {
  const p = (text: string, style = '') =>
    `<w:p>${style && `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
  const row = `<w:tbl><w:tr>${cells.map((cell) => `<w:tc>${p(cell)}</w:tc>`).join('')}</w:tr></w:tbl>`;
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const styles = `<w:styles xmlns:w="${main}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`;
  return createPackage('word/document.xml', {
    'word/document.xml': `<w:document xmlns:w="${main}"><w:body>${p(heading, 'Heading1')}${p(paragraph)}${row}</w:body></w:document>`,
    'word/styles.xml': styles,
    'word/_rels/document.xml.rels': toRelationships([{ id: 'rId1', type: 'styles', target: 'styles.xml' }]),
  });
}

/** A paragraph with an equation, a comment on it by Ann, and a chart of one series. `math` is Office Math. */
export function annotatedWordFile({ math, comment }: { math: string; comment: string }): Buffer {
  const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const spaces = `xmlns:w="${main}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"`;
  const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const commented = `<w:commentRangeStart w:id="0"/>${run('see there.')}<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>`;
  return createPackage('word/document.xml', {
    'word/document.xml': `<w:document ${spaces}><w:body><w:p>${run('For ')}<m:oMath>${math}</m:oMath>${run(', ')}${commented}</w:p></w:body></w:document>`,
    'word/comments.xml': `<w:comments ${spaces}><w:comment w:id="0" w:author="Ann" w:initials="A"><w:p>${run(comment)}</w:p></w:comment></w:comments>`,
    'word/charts/chart1.xml': createChart('Sales', { '2024': 3, '2025': 4.5 }),
    'word/_rels/document.xml.rels': toRelationships([{ id: 'rId1', type: 'comments', target: 'comments.xml' }]),
  });
}

/** The XML of a bar chart: a value for each category. */
function createChart(series: string, values: Readonly<Record<string, number>>): string {
  const points = (all: readonly (string | number)[]) =>
    all.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
  const categories = `<c:cat><c:strRef><c:strCache>${points(Object.keys(values))}</c:strCache></c:strRef></c:cat>`;
  const numbers = `<c:val><c:numRef><c:numCache>${points(Object.values(values))}</c:numCache></c:numRef></c:val>`;
  const name = `<c:tx><c:strRef><c:strCache>${points([series])}</c:strCache></c:strRef></c:tx>`;
  return `<c:chartSpace xmlns:c="c"><c:chart><c:plotArea><c:barChart><c:ser>${name}${categories}${numbers}</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>`;
}

/** `sheet` replaces the XML of the sheet. */
export function sheetFile(name: string, rows: readonly (readonly (string | number)[])[], sheet?: string): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const cell = (value: string | number, at: string) =>
    typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const lines = rows.map(
    (row, index) =>
      `<row r="${index + 1}">${row.map((value, column) => cell(value, `${'ABCDEFGH'.charAt(column)}${index + 1}`)).join('')}</row>`,
  );
  return createPackage('xl/workbook.xml', {
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets><sheet name="${name}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': toRelationships([{ id: 'rId1', type: 'worksheet', target: 'worksheets/sheet1.xml' }]),
    'xl/worksheets/sheet1.xml':
      sheet ?? `<worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData></worksheet>`,
  });
}

export function slideFile(slides: readonly string[], { notesOf1 }: { notesOf1: string }): Buffer {
  const textBody = (text: string) => `<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const parts = slides.map((text, index) => [`ppt/slides/slide${index + 1}.xml`, textBody(text)]);
  return createPackage('ppt/presentation.xml', {
    'ppt/presentation.xml': '<p:presentation xmlns:p="p"/>',
    ...Object.fromEntries(parts.reverse()),
    'ppt/notesSlides/notesSlide1.xml': textBody(notesOf1),
    'ppt/charts/chart1.xml': createChart('Sales', { '2024': 3 }),
    'ppt/comments/comment1.xml': '<p:cmLst xmlns:p="p"><p:cm><p:text>Too long.</p:text></p:cm></p:cmLst>',
  });
}
