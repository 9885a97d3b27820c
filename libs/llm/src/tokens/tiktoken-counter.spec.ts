import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite';
import {
  TiktokenCounter,
  countTokens,
  imageTokens,
  listSlices,
  maxSliceLength,
  type VocabularyName,
  readVocabulary,
} from './tiktoken-counter';

const counter = new TiktokenCounter();
const count = async (text: string, model: string) => (await counter.countTexts([text], model))[0];

const createVocabulary = (name: VocabularyName) => {
  const steps = readVocabulary(name);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
};

const source = readFileSync(`${__dirname}/../models.spec.ts`, 'utf8');
const word = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[a-z]{1,12}$/));
const prose = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '));

describe.each([
  ['o200k_base', 'openai/gpt-5'],
  ['cl100k_base', 'openai/gpt-4'],
] as const)('%s', (name, model) => {
  const reference = new Tiktoken(createRequire(__filename)(`js-tiktoken/ranks/${name}`) as TiktokenBPE); // its own file
  const exactly = (text: string) => reference.encode(text, [], []).length;
  const vocabulary = createVocabulary(name);

  it('counts exactly as the reference does', () => {
    fc.assert(fc.property(prose, (text) => countTokens(text, vocabulary) === exactly(text)));
  });

  it('counts a source file exactly, although in slices', async () => {
    expect(await count(source, model)).toBe(exactly(source));
  });

  it.each([
    ['spaces', ' '.repeat(2000)],
    ['one letter', 'a'.repeat(2000)],
    ['Chinese without a space', '漢字仮名'.repeat(300)],
    ['base64', Buffer.from(source).toString('base64').slice(0, 8000)],
    ['emoji', '🎼🎹'.repeat(300)],
  ])('is within a hundredth of the exact count for %s', async (_, text) => {
    const exact = exactly(text);
    expect(Math.abs(((await count(text, model)) ?? 0) - exact)).toBeLessThanOrEqual(Math.max(8, exact / 100));
  });
});

it.each([' ', 'a', '=', '\n', '漢', '🎼', 'ab ', '\u0301'])('counts at most one slice at once: %j', async (unit) => {
  const hostile = unit.repeat(200_000 / unit.length);
  const slices = [...listSlices(hostile)];

  expect(slices.every(({ length }) => length <= maxSliceLength)).toBe(true);
  expect(slices.join('')).toBe(hostile);
});

it('splits no character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1200, maxLength: 3000 }), (text) => {
      expect([...listSlices(text)].flatMap((slice) => Array.from(slice))).toEqual(Array.from(text));
    }),
  );
});

it('does not block the event loop', async () => {
  let others = 0;
  const other = setInterval(() => others++, 1);
  await counter.countTexts([' '.repeat(200_000)], 'openai/gpt-5');
  clearInterval(other);

  expect(others).toBeGreaterThan(3);
});

it('finishes a short text before a long one that was requested first', async () => {
  const order: string[] = [];
  await counter.countTexts(['warm'], 'demo/plain');
  const long = counter.countTexts(['a'.repeat(200_000)], 'demo/plain').then(() => order.push('long'));
  const short = counter.countTexts(['short'], 'demo/plain').then(() => order.push('short'));
  await Promise.all([long, short]);

  expect(order).toEqual(['short', 'long']);
});

it('counts several texts in order, and a fifth more for Claude', async () => {
  const texts = ['', 'one', 'one two three four five'];
  expect(await counter.countTexts(texts, 'demo/plain')).toEqual([0, 1, 5]);
  expect(await counter.countTexts(texts, 'anthropic/claude-sonnet-5')).toEqual([0, 2, 6]);
  expect(await counter.countTexts([], 'demo/plain')).toEqual([]);
});

it.each([
  ['openai/gpt-4o', { width: 1024, height: 1024 }, 765],
  ['openai/gpt-4o', { width: 2048, height: 4096 }, 1105],
  ['openai/gpt-4o', { width: 10, height: 10 }, 255],
  ['anthropic/claude-sonnet-5', { width: 1000, height: 750 }, 1000],
  ['anthropic/claude-sonnet-5', { width: 8000, height: 8000 }, 1600],
  ['openrouter/anthropic/claude-sonnet-5', { width: 200, height: 200 }, 54],
  ['demo/plain', { width: 10, height: 10 }, 1500],
  ['openai/gpt-4o', undefined, 1500],
])('charges %s for an image of %j', (model, size, tokens) => {
  expect(imageTokens(size, model)).toBe(tokens);
});

it.each([
  ['not loaded, takes many turns of the event loop', false],
  ['loaded before, takes a few', true],
])('the first count, %s', async (_, isLoaded) => {
  const fresh = new TiktokenCounter();
  if (isLoaded) await fresh.load('openai/gpt-5');
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);

  await fresh.countTexts(['one text'], 'openai/gpt-5');
  isOver = true;

  if (isLoaded) expect(turns).toBeLessThanOrEqual(4);
  else expect(turns).toBeGreaterThan(4);
});
