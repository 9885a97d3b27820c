import { judgeSummary } from './judge-summary';

const readCode = (written: string) => {
  const judged = judgeSummary(written);
  return 'error' in judged ? judged.error.code : judged.text;
};

it.each([
  ['', 'summary_empty'],
  ['<think>The user wants a summary. Let me see.</think>', 'summary_empty'],
  ['<think>The user wants a summary. Let me see what was', 'summary_empty'],
  ['The user wants a summary. Let me see.\n</think>\n', 'summary_empty'],
  ['<function_calls>\n<invoke name="read_file"></invoke>\n</function_calls>', 'summary_is_call'],
  ['I look.\n<tool_call>\n{"name": "read_file"}\n</tool_call>', 'summary_is_call'],
  ['```json\n{"tool_name": "read_file", "parameters": {}}\n```', 'summary_is_call'],
  ['[{"name": "read_file", "arguments": {"path": "a"}}]', 'summary_is_call'],
  ['<read-file file_path="a.txt"/>', 'summary_is_call'],
  ['<|tool_calls_section_begin|>functions.read:0', 'summary_is_call'],
  ["I'm sorry, but I can't help with that.", 'summary_refused'],
  ['I cannot assist with this request.', 'summary_refused'],
  ['Let me now read the second file.', 'summary_is_answer'],
  ["Sure! I'll write the tests next.", 'summary_is_answer'],
  ['Next, I will run the tests.', 'summary_is_answer'],
  ['Which of the two files do you mean?', 'summary_is_answer'],
])('refuses what is no summary: %j', (written, code) => {
  expect(readCode(written)).toBe(code);
});

it.each([
  'All pages were read.',
  'Summary: an exercise with several steps.',
  'Sure, here is the summary: the user wants tea.',
  'The user asked to read a.txt. The agent called read_file, which failed.',
  "I'm sorry is what the agent said last.\n\nLATEST STATE: it waits.",
  'COMPLETED: the call\n<function_calls>\n<invoke name="x">\nwas quoted.',
  '{"facts": ["the user wants tea"]}',
  'Was gesagt wurde: Der Nutzer möchte Tee.',
])('accepts a text of its own: %j', (written) => {
  expect(readCode(written)).toBe(written);
});

it('takes thoughts off', () => {
  expect(readCode('<think>Let me see.</think>\n\nThe user wants tea.')).toBe('The user wants tea.');
});
