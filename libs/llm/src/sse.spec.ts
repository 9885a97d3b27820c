import fc from 'fast-check';
import { type SseEvent, SseReader } from './sse';

const read = (...pieces: (string | Uint8Array)[]): string[] => {
  const reader = new SseReader();
  const events = pieces.flatMap((piece) => reader.push(typeof piece === 'string' ? Buffer.from(piece) : piece));
  return events.map(({ data }) => data);
};

function readToEnd(text: string): SseEvent[] {
  const reader = new SseReader();
  return [...reader.push(Buffer.from(text)), ...reader.end()];
}

/** `bytes` cut anywhere, even within a character. */
const createPieces = (bytes: Uint8Array) =>
  fc.array(fc.nat(bytes.length)).map((cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    return places.slice(1).map((end, at) => bytes.subarray(places[at], end));
  });

describe('SseReader', () => {
  it('reads the data of an event once its empty line has arrived', () => {
    expect(read('data: a\n')).toEqual([]);
    expect(read('data: a\n', '\n')).toEqual(['a']);
  });

  it('joins the lines of data of one event', () => {
    expect(read('data: a\ndata:\ndata:  b\n\n')).toEqual(['a\n\n b']);
  });

  it('accepts every kind of line end', () => {
    expect(read('data: a\r\n\r\ndata: b\r\rdata: c\n\n')).toEqual(['a', 'b', 'c']);
    expect(read('data: a\r', '\n\r', '\ndata: b\r', '\r')).toEqual(['a', 'b']);
  });

  it('ignores comments, other fields, events without data and a byte order mark', () => {
    expect(
      read('\uFEFFdata: a\n\n: ping\n\nevent: x\nid: 1\nretry: 5\n\ndata\n\ndata:\n\ndatax: y\ndata:b\n\n'),
    ).toEqual(['a', 'b']);
  });

  it('drops an event that the end of the stream cuts off, and reads one that only lacks its empty line', () => {
    expect(readToEnd('data: a\n\ndata: b\n')).toEqual([{ data: 'a' }]);
    expect(readToEnd('data: {"a":{}}\n\ndata: {"b":{}')).toEqual([{ data: '{"a":{}}' }]);
    expect(readToEnd('data: {"a":1}\n')).toEqual([{ data: '{"a":1}' }]);
    expect(readToEnd('event: x\ndata: {"a":1}')).toEqual([{ data: '{"a":1}', name: 'x' }]);
    expect(readToEnd('data: [DONE]')).toEqual([{ data: '[DONE]' }]);
  });

  it('tells events apart that have no empty line between them, and joins the lines of one', () => {
    expect(readToEnd('data: {"a":1}\ndata: {"b":1}\ndata: [DONE]\n\n')).toEqual([
      { data: '{"a":1}' },
      { data: '{"b":1}' },
      { data: '[DONE]' },
    ]);
    expect(readToEnd('data: {\ndata: "a": {}\ndata: }\n\n')).toEqual([{ data: '{\n"a": {}\n}' }]);
  });

  it('gives the name of an event with its data', () => {
    const names = readToEnd('event: a\ndata: {}\nevent: b\ndata: {}\n\ndata: 1\n\ndata: 2\nevent: c\n\n').map(
      ({ name }) => name,
    );
    expect(names).toEqual(['a', 'b', undefined, 'c']);
  });

  it('refuses a line that is too long', () => {
    const reader = new SseReader();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    expect(() => {
      for (let sent = 0; sent < 20; sent++) reader.push(piece);
    }).toThrow('too long');
  });

  it('reads the same for any split of the bytes', () => {
    const value = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n{}]/g, '·'));
    const event = fc.record({
      lines: fc.array(value, { minLength: 1, maxLength: 3 }),
      comment: fc.option(value),
      lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    });
    const stream = fc.array(event, { maxLength: 6 }).chain((events) => {
      const text = events.map(({ lines, comment, lineEnd }) => {
        const extra = comment === null ? [] : [`: ${comment}`];
        return [...extra, ...lines.map((line) => `data: ${line}`), '', ''].join(lineEnd);
      });
      const expected = events.map(({ lines }) => lines.join('\n')).filter((data) => data !== '');
      return fc.record({ expected: fc.constant(expected), pieces: createPieces(Buffer.from(text.join(''))) });
    });
    fc.assert(fc.property(stream, ({ expected, pieces }) => expect(read(...pieces)).toEqual(expected)));
  });
});
