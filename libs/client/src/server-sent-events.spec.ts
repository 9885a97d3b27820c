import fc from 'fast-check';
import { dataOfEvents } from './server-sent-events.ts';

async function read(...chunks: Uint8Array[]): Promise<string[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const all: string[] = [];
  for await (const events of dataOfEvents(body, () => undefined)) all.push(...events);
  return all;
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('dataOfEvents', () => {
  it('reads the data and ignores everything else', async () => {
    const text = 'retry: 1\n\n: keep-alive\n\nid: 1\nevent: x\ndata: {"a":1}\n\ndata:b\ndata: c\n\nid: 2\n\n';
    expect(await read(bytes(text))).toEqual(['{"a":1}', 'b\nc']);
  });

  it('drops an event that the end cuts off', async () => {
    expect(await read(bytes('data: a\n\ndata: b\n'))).toEqual(['a']);
  });

  it('reads the same for any split of the bytes, also within a character', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '·'));
    const stream = fc.record({
      events: fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
      end: fc.constantFrom('\n', '\r\n', '\r'),
      cuts: fc.array(fc.nat(200)),
    });
    await fc.assert(
      fc.asyncProperty(stream, async ({ events, end, cuts }) => {
        const text = events.map((lines) => [...lines.map((each) => `data: ${each}`), '', ''].join(end)).join('');
        const all = bytes(text);
        const places = [0, ...cuts.sort((a, b) => a - b), all.length];
        const chunks = places.slice(1).map((place, index) => all.slice(places[index], place));
        expect(await read(...chunks)).toEqual(events.map((lines) => lines.join('\n')));
      }),
    );
  });
});
