import { inputContent } from '.';

it.each([[''], [[]], [[{ type: 'text', text: '' }]]])('refuses an input that says nothing: %j', (input) => {
  expect(inputContent.safeParse(input).success).toBe(false);
});

it('takes an image without a word', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } };

  expect(inputContent.safeParse([{ type: 'text', text: '' }, image]).success).toBe(true);
});
