/** The system prompt of Rondo's agent and of the bare loop. */
export const systemPrompt =
  'You are an agent that does what the user asks. Call a tool when you need it. When the task is done, say so in a few words.';
