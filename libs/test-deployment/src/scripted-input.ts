/** An input that makes `demo/scripted` replay these turns. `about` makes each conversation different. */
export const scriptInput = (
  about: string,
  turns: readonly Record<string, unknown>[],
): { model: string; input: string } => ({
  model: 'demo/scripted',
  input: `${about}\n\`\`\`demo-script\n${JSON.stringify(turns)}\n\`\`\``,
});

export const call = (name: string, args: Record<string, unknown>): { name: string; arguments: typeof args } => ({
  name,
  arguments: args,
});

export const command = (line: string, timeout = 60): ReturnType<typeof call> =>
  call('execute_command', { command: line, blocking: true, timeout });

/** Settings under which the context of a run is full after a few long outputs, so that it needs a summary. */
export const smallContext = { token_threshold: 9_000, summary_target_tokens: 1_000, reserve_tokens: 500 } as const;
