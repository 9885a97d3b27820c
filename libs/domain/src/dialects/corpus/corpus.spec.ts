import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readReply } from '../../testing/read-reply';
import type { DecodedCall, DecodedReply } from '../dialect';
import { contentWithCalls } from '../reply-content';

/**
 * Each file holds samples of one theme, its name begins with the dialect. A sample is a reply, and after `--- expect`
 * what it says, in order: `text` (a JSON string), `call` (name, arguments), `malformed` (name, how the reason begins),
 * and in JSON mode the `verdict`. A `␍` stands for a carriage return.
 */
const files = readdirSync(__dirname).filter((name) => name.endsWith('.txt'));

const listSamples = (file: string) =>
  readFileSync(join(__dirname, file), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((sample) => {
      const [, title = '', written = '', expected = ''] = /^(.*)\n([^]*?)\n?--- expect\n([^]*)$/.exec(sample) ?? [];
      return { title, written: written.replaceAll('␍', '\r'), expected: expected.trim().split('\n') };
    });

describe.each(files)('%s', (file) => {
  const dialect = file.startsWith('xml-invoke') ? 'xml_invoke' : file.startsWith('xml-tag') ? 'xml_tag' : 'json';

  it.each(listSamples(file))('$title', ({ written, expected }) => {
    for (const size of [written.length || 1, 1, 2, 5]) {
      const { reply } = readReply(dialect, written, size);

      expect(told(reply)).toEqual(expected.map(asFound(reply)));
    }
  });
});

it('has at least 120 samples', () => {
  expect(files.flatMap(listSamples).length).toBeGreaterThanOrEqual(120);
});

/** A reply in the words of the samples. */
function told(reply: DecodedReply): string[] {
  const { verdict } = reply;
  return [
    ...contentWithCalls(reply, toldCall).map((part) =>
      typeof part === 'string' ? part : `text: ${JSON.stringify(part.text)}`,
    ),
    ...(verdict ? [`verdict: ${verdict.decision}`] : []),
  ];
}

const toldCall = ({ name, arguments: input, malformed }: DecodedCall): string =>
  malformed ? `malformed: ${name} ${malformed.reason}` : `call: ${name} ${JSON.stringify(input)}`;

/** A sample may leave out the end of a reason. */
const asFound =
  (reply: DecodedReply) =>
  (line: string): string =>
    line.startsWith('malformed: ') ? (told(reply).find((found) => found.startsWith(line)) ?? line) : line;
