/** Of models and tools. */
export const toolExamples = {
  Model: {
    id: 'openai/gpt-5',
    provider: 'openai',
    context_window: 400_000,
    max_output_tokens: 128_000,
    price: { input: 1.25, output: 10, cache_read: 0.125 },
    default: true,
    aliases: ['gpt-5'],
    allowed: true,
    charged_price: { input: 1.875, output: 15, cache_read: 0.1875 },
    default_in: ['suna', 'ii', 'symphony'],
  },
  Tool: {
    name: 'execute_command',
    description: 'Run a command in the sandbox.',
    group: 'shell',
    effect_class: 'unsafe',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    default_in: ['suna'],
    available: true,
    reason: '',
  },
};
