import { parseDefinition, printDefinition } from './definition-text';

const definition = { name: 'reviewer', system_prompt: 'Be kind.\nBe short.', tools: { shell: false } };

it.each(['json', 'yaml'] as const)('a definition is the same after %s', async (format) => {
  expect(await parseDefinition(await printDefinition(definition, format), format)).toEqual(definition);
});

it.each([
  ['json', '{', 'not JSON'],
  ['yaml', 'a: [', 'not YAML'],
  ['yaml', '- a list', 'It must be an object'],
  ['json', 'null', 'It must be an object'],
] as const)('says what is wrong with %s %s', async (format, text, words) => {
  await expect(parseDefinition(text, format)).rejects.toThrow(words);
});
