import { readPrintedCalls } from './printed-calls';

const call = { name: 'read_file', arguments: { path: 'a.txt', depth: 1 } };
const asText = { name: 'read_file', arguments: { path: 'a.txt', depth: '1' } };
const args = JSON.stringify(call.arguments);

describe('calls that a model prints', () => {
  it.each([
    ['Hermes', `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`],
    ['Hermes, not closed', `<tool_call>${JSON.stringify(call)}`],
    ['Llama', `<function=read_file>${args}</function>`],
    ['Llama, tagged', `<|python_tag|>{"name": "read_file", "parameters": ${args}}`],
    ['Mistral', `[TOOL_CALLS][${JSON.stringify(call)}]`],
    ['Mistral, newer', `[TOOL_CALLS]read_file[ARGS]${args}`],
    [
      'Kimi',
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>${args}<|tool_call_end|><|tool_calls_section_end|>`,
    ],
    [
      'DeepSeek',
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n\`\`\`json\n${args}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    ],
    ['DeepSeek, newer', `<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>${args}<｜tool▁call▁end｜>`],
    ['Harmony', `<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>${args}<|call|>`],
  ])('are read in the notation of %s', (_, written) => {
    expect(readPrintedCalls(`I look.\n${written}`)).toEqual({ calls: [call], text: 'I look.', endsWithCall: true });
    expect(readPrintedCalls(`${written}\nSee above.`).calls.length).toBeLessThanOrEqual(1);
  });

  it.each([
    [
      'Qwen',
      '<tool_call>\n<function=read_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=depth>1</parameter>\n</function>\n</tool_call>',
    ],
    [
      'GLM',
      '<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n<arg_key>depth</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
    ],
  ])('are read with their values as text in the notation of %s', (_, written) => {
    expect(readPrintedCalls(written)).toEqual({ calls: [asText], text: '', endsWithCall: true });
  });

  it('are read one after the other', () => {
    const one = `<tool_call>${JSON.stringify(call)}</tool_call>`;

    expect(readPrintedCalls(`${one}\n${one}`)).toEqual({ calls: [call, call], text: '', endsWithCall: true });
  });

  it.each([
    `\`\`\`\n<tool_call>${JSON.stringify(call)}</tool_call>\n\`\`\``,
    `Write \`<tool_call>${JSON.stringify(call)}</tool_call>\`.`,
    'The tag <tool_call> opens a call.',
    '[TOOL_CALLS] are printed by Mistral.',
    '<tool_call>{"name": 5}</tool_call>',
  ])('are not found in %j', (written) => {
    expect(readPrintedCalls(written)).toMatchObject({ calls: [], endsWithCall: false });
  });
});

describe('a text that looks like printed calls', () => {
  const n = 200_000;

  it.each([
    ['openings without a call', '<tool_call>x '.repeat(n / 13)],
    ['calls', `<tool_call>${JSON.stringify(call)}</tool_call> `.repeat(n / 80)],
    ['lines', `${'\n'.repeat(n)}<tool_call>`],
    ['spaces in a call', `[TOOL_CALLS]a${' '.repeat(n)}`],
    ['spaces in arguments', `<function=a>${' '.repeat(n)}x</function>`],
    ['parameters without an end', `<tool_call><function=a>${'<parameter=a>'.repeat(n / 13)}</function></tool_call>`],
    ['keys without a value', `<tool_call>a<arg_key>${'<arg_key>a</arg_key>'.repeat(n / 20)}</tool_call>`],
    ['brackets', `[TOOL_CALLS]${'[] '.repeat(n / 3)}x`],
    ['tokens', '<|tool_call_begin|>a:'.repeat(n / 21)],
  ])('costs no more than its length, whatever it repeats: %s', (_, written) => {
    expect(readPrintedCalls(written).calls.length).toBeLessThanOrEqual(200);
  });
});
