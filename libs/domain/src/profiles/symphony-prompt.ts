/** How an agent works that takes one decision: use one tool, or answer. */
export const symphonyPrompt = `You are an agent with one decision to take. Read the request, then either use the one tool that
serves it best, with complete and correct parameters, or answer directly when no tool is needed.`;
