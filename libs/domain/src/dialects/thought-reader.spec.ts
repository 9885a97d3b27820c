import fc from 'fast-check';
import { type ThoughtPiece, ThoughtReader, splitThoughts } from './thought-reader';

/** The pieces of a text that arrives in chunks of this size, with neighbours of the same type joined. */
function readInChunks(text: string, size: number): string[] {
  const reader = new ThoughtReader();
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const pieces: ThoughtPiece[] = [...chunks.flatMap((chunk) => [...reader.read(chunk)]), ...reader.end()];
  const joined: string[] = [];
  for (const piece of pieces) {
    const label = `${piece.type}: `;
    if ('text' in piece && joined.at(-1)?.startsWith(label)) joined.push(`${joined.pop() ?? ''}${piece.text}`);
    else joined.push('text' in piece ? label + piece.text : piece.type);
  }
  return joined;
}

describe('thoughts in the text of a reply', () => {
  it.each([
    ['<think>plan</think>\n\nAnswer.', { reasoning: 'plan', text: 'Answer.' }],
    ['\n <think>\nplan\n</think>Answer.', { reasoning: 'plan', text: 'Answer.' }],
    ['<thinking>plan</thinking>Answer.', { reasoning: 'plan', text: 'Answer.' }],
    ['[THINK]plan[/THINK]Answer.', { reasoning: 'plan', text: 'Answer.' }],
    ['◁think▷plan◁/think▷Answer.', { reasoning: 'plan', text: 'Answer.' }],
    ['<|channel|>analysis<|message|>plan<|end|>Answer.', { reasoning: 'plan', text: 'Answer.' }],
    ['<think></think>Answer.', { reasoning: '', text: 'Answer.' }],
    ['<think>never closed <b>', { reasoning: 'never closed <b>', text: '' }],
    ['plan.\n</think>\n\nAnswer.', { reasoning: 'plan.\n', text: 'Answer.' }],
    ['plan.</think>Answer.', { reasoning: 'plan.', text: 'Answer.' }],
    ['plan.</think>', { reasoning: 'plan.', text: '' }],
    ['I look.\n<think>then</think>\nI act.', { reasoning: 'then', text: 'I look.\nI act.' }],
    ['Sure! <think>then</think> I act.', { reasoning: 'then', text: 'Sure! I act.' }],
    ['<think>about `</think>` marks</think>Answer.', { reasoning: 'about `</think>` marks', text: 'Answer.' }],
  ])('are separated: %j', (written, parts) => {
    expect(splitThoughts(written)).toEqual(parts);
  });

  it.each([
    'Write `<think>` before and `</think>` after it.',
    'The tags <think> and </think> surround it.',
    'They call it "<think>", and ("</think>") ends it.',
    '```html\n<think>\nx\n</think>\n```\n',
    'Tea < toast, <b>bold</b>, <thin',
    '  \n',
  ])('are not found where the marks are only spoken of: %j', (written) => {
    expect(splitThoughts(written)).toEqual({ reasoning: '', text: written });
  });

  it('leaves a mark within the arguments of a call as it is', () => {
    const reader = new ThoughtReader(() => true);

    expect([...reader.read('a\n<think>b</think>'), ...reader.end()]).toEqual([
      { type: 'text', text: 'a\n' },
      { type: 'text', text: '<think>' },
      { type: 'text', text: 'b' },
      { type: 'text', text: '</think>' },
    ]);
  });

  it('gives the same pieces however the text is split, and loses nothing but marks and white space', () => {
    const word = fc.constantFrom(
      '<think>',
      '</think>',
      '<thin',
      '`',
      '```',
      '\n',
      ' ',
      '. ',
      'a',
      '🍵',
      '[THINK]',
      '"',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 24 }), fc.integer({ min: 1, max: 9 }), (words, size) => {
        const written = words.join('');
        const { text, reasoning } = splitThoughts(written);
        const letters = (given: string) => given.replace(/[^a🍵]/gu, '').length;

        expect(readInChunks(written, size)).toEqual(readInChunks(written, 1_000));
        expect(letters(text + reasoning)).toBe(letters(written));
      }),
      { numRuns: 2_000 },
    );
  });
});
