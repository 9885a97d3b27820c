import { createZip } from '../../parsing/testing/zip';
import { ExecutorFixture } from '../../testing/executor-fixture';
import { createPdf } from '../../parsing/testing/pdf';
import { annotatedWordFile, sheetFile, slideFile, wordFile } from '../../parsing/testing/office-files';

describe('text_extract', () => {
  let fixture: ExecutorFixture;
  const shell = (command: string) => fixture.use('execute_command', { command, blocking: true });
  const extract = (file_path: string) => fixture.use('text_extract', { file_path });

  async function put(path: string, bytes: Buffer): Promise<void> {
    await shell(`rm -f '${path}'`);
    for (let at = 0; at < bytes.length; at += 60_000) {
      await shell(`echo ${bytes.subarray(at, at + 60_000).toString('base64')} | base64 -d >> '${path}'`);
    }
  }

  beforeAll(async () => {
    fixture = await ExecutorFixture.open();
  });
  afterAll(() => fixture.close());

  it('reads the pages of a PDF', async () => {
    await put('a.pdf', createPdf(['First page', 'Second page']));

    expect(await extract('a.pdf')).toEqual({
      success: true,
      output: expect.stringMatching(
        /^\[a\.pdf, pdf: \d+ characters\]\n\n--- page 1 ---\nFirst page\n\n--- page 2 ---\nSecond page/,
      ),
    });
  });

  it('reads a Word document with its headings and tables', async () => {
    await put('a.docx', wordFile({ heading: 'Report', paragraph: 'All went well.', cells: ['a', 'b'] }));

    const { output } = await extract('a.docx');

    expect(output).toContain('# Report\n\nAll went well.');
    expect(output).toContain('| a | b |');
  });

  it('reads the sheets of a workbook as comma-separated values', async () => {
    await put(
      'a.xlsx',
      sheetFile('Sales', [
        ['name', 'sum'],
        ['Köln, West', 12.5],
      ]),
    );

    expect((await extract('a.xlsx')).output).toContain('--- sheet Sales ---\nname,sum\n"Köln, West",12.5\n');
  });

  it('reads the slides of a presentation in order, and their notes', async () => {
    await put('a.pptx', slideFile(['One', 'Two'], { notesOf1: 'Say hello' }));

    expect((await extract('a.pptx')).output).toContain(
      '--- slide 1 ---\nOne\n\n--- notes 1 ---\nSay hello\n\n--- slide 2 ---\nTwo',
    );
  });

  it('reads the charts and the comments of a presentation', async () => {
    await put('b.pptx', slideFile(['One'], { notesOf1: 'Say hello' }));

    expect((await extract('b.pptx')).output).toContain('--- chart ---\n,2024\nSales,3\n\n--- comments ---\nToo long.');
  });

  it.each([
    ['an escaped sign', '<m:r><m:t>x&lt;1</m:t></m:r>', 'x<1'],
    ['a power', '<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>', 'x^2'],
    [
      'a fraction with a root',
      '<m:f><m:fPr/><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:rad><m:deg/><m:e><m:r><m:t>c</m:t></m:r></m:e></m:rad></m:den></m:f>',
      '(a+b)/(√(c))',
    ],
    [
      'a sum',
      '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>i</m:t></m:r></m:e></m:nary>',
      '∑_(i=1)^n i',
    ],
    [
      'brackets',
      '<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:r><m:t>a</m:t></m:r></m:e><m:e><m:r><m:t>b</m:t></m:r></m:e></m:d>',
      '[a|b]',
    ],
    [
      'a matrix',
      '<m:m><m:mr><m:e><m:r><m:t>1</m:t></m:r></m:e><m:e><m:r><m:t>0</m:t></m:r></m:e></m:mr><m:mr><m:e><m:r><m:t>0</m:t></m:r></m:e><m:e><m:r><m:t>1</m:t></m:r></m:e></m:mr></m:m>',
      '[1, 0; 0, 1]',
    ],
  ])('writes %s in an equation of a Word document as text', async (_, math, text) => {
    await put('c.docx', annotatedWordFile({ math, comment: 'Not agreed.' }));

    const { output } = await extract('c.docx');

    expect(output.replaceAll('\\', '')).toContain(`For ${text}, see there.[A1]`);
  });

  it('reads the comments and the charts of a Word document', async () => {
    await put('c.docx', annotatedWordFile({ math: '', comment: 'Not agreed.' }));

    const { output } = await extract('c.docx');

    expect(output.replaceAll('\\', '')).toMatch(/Comment \[A1\]\s+Not agreed\./);
    expect(output).toContain('--- chart ---\n,2024,2025\nSales,3,4.5');
  });

  it('reads the text of a Rich Text document', async () => {
    const source = [
      String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\*\generator Word;}{\header Secret head}`,
      String.raw`\pard Hello \b bold\b0  text, caf\'e9 costs 3\u8364? \{net\}.\par`,
      String.raw`{\pict\bin4 }}{{}Second\cell line\emdash end}`,
    ];
    await put('a.rtf', Buffer.from(source.join('\n'), 'latin1'));

    expect((await extract('a.rtf')).output).toBe(
      '[a.rtf, rtf: 53 characters]\n\nHello bold text, café costs 3€ {net}.\nSecond\tline—end',
    );
  });

  it('reads HTML as Markdown, and CSV and text as they are', async () => {
    await put('a.html', Buffer.from('<title>T</title><h1>Head</h1><p>text <b>bold</b></p><script>evil()</script>'));
    await put('a.csv', Buffer.from('name,sum\nM\xfcller,3\n', 'latin1'));

    expect((await extract('a.html')).output).toBe('[a.html, html: 26 characters]\n\n# T\n\n# Head\n\ntext **bold**');
    expect((await extract('a.csv')).output).toContain('Müller,3');
  });

  it('saves a long text beside it, and shows its beginning and end', async () => {
    await shell(`mkdir -p docs; for i in $(seq 1 20000); do echo "line $i"; done > docs/long.txt`);

    const { output, truncated } = await extract('docs/long.txt');

    expect(truncated).toBe(true);
    expect(output.length).toBeLessThan(31_000);
    const [, path = ''] = /the whole text is in (\/workspace\/\.extracted\/long\.txt-\w+\.txt)/.exec(output) ?? [];
    const part = await fixture.use('read_file', { file_path: path, start_line: 10_000, end_line: 10_000 });
    expect(part.output).toContain('line 10000');
  });

  it('reports a scanned PDF, an old format, an archive and an empty file', async () => {
    await put('scan.pdf', createPdf(['']));
    await put('old.doc', Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    await put('files.zip', createZip({ 'a.txt': Buffer.from('x') }));
    await shell(': > empty.txt');

    expect((await extract('scan.pdf')).error).toContain('none of its pages has text');
    expect((await extract('old.doc')).error).toContain('is encrypted, or in the binary format of before 2007');
    expect((await extract('files.zip')).error).toContain('it is an archive, not a document');
    expect((await extract('empty.txt')).error).toBe('empty.txt is empty.');
  });

  describe('attack: document files', () => {
    it('a zip bomb', async () => {
      await put('bomb.docx', createZip({ 'word/document.xml': Buffer.alloc(210 * 1024 * 1024) }));

      expect((await extract('bomb.docx')).error).toContain('larger than 200 MiB when it is decompressed');
    });

    it('an encrypted archive', async () => {
      await put('secret.docx', createZip({ 'word/document.xml': Buffer.from('<a/>') }, { isEncrypted: true }));

      expect((await extract('secret.docx')).error).toBe('secret.docx cannot be read: it is encrypted.');
    });

    it('a Rich Text document of brackets', async () => {
      await put('deep.rtf', Buffer.from(`{\\rtf1${'{'.repeat(100_000)}`));

      expect((await extract('deep.rtf')).error).toContain('its groups are nested more than 1000 times');
    });

    it('a truncated PDF and a truncated archive', async () => {
      await put('cut.pdf', createPdf(['text']).subarray(0, 60));
      await put('cut.docx', wordFile({ heading: 'a', paragraph: 'b', cells: [] }).subarray(0, 300));

      expect((await extract('cut.pdf')).error).toMatch(/^cut\.pdf cannot be read: /);
      expect((await extract('cut.docx')).error).toContain('it is damaged');
    });

    it.each(['../secret.pdf', '/etc/passwd', 'a/../../secret.pdf'])('the path %s', async (path) => {
      expect((await extract(path)).error).toContain('outside /workspace');
    });

    it('a link to a file of the host', async () => {
      await shell('ln -sf /proc/1/environ environ.txt; ln -sf /etc/shadow shadow.txt');

      expect((await extract('shadow.txt')).success).toBe(false);
      expect((await extract('environ.txt')).output).not.toContain('NATS');
    });

    it('a workbook that refers to a file of the host', async () => {
      const sheet =
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&e;</t></is></c></row></sheetData></worksheet>';
      await put('xxe.xlsx', sheetFile('S', [], sheet));

      expect(JSON.stringify(await extract('xxe.xlsx'))).not.toContain('root:');
    });
  });
});
