import fc from 'fast-check';
import { EvenTokenCounter } from '../testing';
import { CachingTokenCounter } from './caching-token-counter';

it('returns the counts of its counter, and counts a text once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.string({ maxLength: 5 }), { maxLength: 10 })), async (requests) => {
      const counter = new EvenTokenCounter();
      const caching = new CachingTokenCounter(counter);
      for (const texts of requests) {
        expect(await caching.countTexts(texts, 'm')).toEqual(await new EvenTokenCounter().countTexts(texts));
      }
      const counted = counter.characters;
      await caching.countTexts(requests.flat(), 'm');

      expect(counter.characters).toBe(counted);
    }),
  );
});

it('evicts the least recently used text', async () => {
  const counter = new EvenTokenCounter();
  const caching = new CachingTokenCounter(counter, 30);
  await caching.countTexts(['aaaaaaaa', 'bbbbbbbb', 'cccccccc'], 'm');
  await caching.countTexts(['aaaaaaaa'], 'm');
  await caching.countTexts(['dddddddd'], 'm');

  const before = counter.characters;
  await caching.countTexts(['aaaaaaaa'], 'm');
  expect(counter.characters).toBe(before);
  await caching.countTexts(['bbbbbbbb'], 'm');
  expect(counter.characters).toBe(before + 8);
});
