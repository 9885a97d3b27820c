import fc from 'fast-check';
import { EvenTokenCounter } from '../testing';
import { CachingTokenCounter } from './caching-token-counter';

it('says what its counter says, and asks it about a text once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.string({ maxLength: 5 }), { maxLength: 10 })), async (questions) => {
      const counter = new EvenTokenCounter();
      const remembering = new CachingTokenCounter(counter);
      for (const texts of questions) {
        expect(await remembering.countTexts(texts, 'm')).toEqual(await new EvenTokenCounter().countTexts(texts));
      }
      const asked = counter.characters;
      await remembering.countTexts(questions.flat(), 'm');

      expect(counter.characters).toBe(asked);
    }),
  );
});

it('forgets what was not asked about for longest', async () => {
  const counter = new EvenTokenCounter();
  const remembering = new CachingTokenCounter(counter, 30);
  await remembering.countTexts(['aaaaaaaa', 'bbbbbbbb', 'cccccccc'], 'm');
  await remembering.countTexts(['aaaaaaaa'], 'm');
  await remembering.countTexts(['dddddddd'], 'm');

  const before = counter.characters;
  await remembering.countTexts(['aaaaaaaa'], 'm');
  expect(counter.characters).toBe(before);
  await remembering.countTexts(['bbbbbbbb'], 'm');
  expect(counter.characters).toBe(before + 8);
});
