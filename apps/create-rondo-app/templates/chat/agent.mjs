/** What the agent is told, and which tools it has. The server stores it in the account; the page has the handlers of its tools. */
export const agent = {
  system_prompt: 'You are a helpful assistant. Answer in a few sentences.',
  caller_tools: [
    {
      name: 'get_local_time',
      description: 'The time and the time zone of the person.',
      effect_class: 'pure',
    },
    {
      name: 'save_note',
      description: 'Keeps a note in the browser of the person.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  ],
  tools: { save_note: { require_approval: true } }, // the person decides about each call
};
