import type { ProgressReporter } from './campaign';

const everyMs = 10_000;

/** One line per experiment, updated while it runs; without a terminal, a new line every ten seconds. */
export function terminalProgress(terminal: NodeJS.WriteStream): ProgressReporter {
  let lastAt = 0;
  const write = (text: string) => terminal.write(terminal.isTTY ? `\r\u001b[2K${text}` : text);
  return {
    progress(name, { started, ended, faults }) {
      if (!terminal.isTTY && Date.now() - lastAt < everyMs) return;
      lastAt = Date.now();
      write(`  … ${name.padEnd(10)} ${ended} of ${started} runs ended, ${faults} faults${terminal.isTTY ? '' : '\n'}`);
    },
    done({ name, seconds, findings, error }, missed) {
      const outcome = missed.length === 0 ? 'all bars met' : `missed: ${missed.join(', ')}`;
      write(`  ${missed.length === 0 ? '✓' : 'x'} ${name.padEnd(10)} ${seconds.toFixed(1)} s  ${outcome}\n`);
      for (const detail of [...(error === undefined ? [] : [error]), ...(findings?.details ?? [])])
        terminal.write(`      ${detail}\n`);
    },
  };
}
