import type { Watcher } from './campaign';

const everyMs = 10_000;

/** One line per experiment, which changes while it runs; where lines cannot change, a new one every ten seconds. */
export function watchInTerminal(terminal: NodeJS.WriteStream): Watcher {
  let lastAt = 0;
  const write = (text: string) => terminal.write(terminal.isTTY ? `\r\u001b[2K${text}` : text);
  return {
    progress(name, { started, ended, faults }) {
      if (!terminal.isTTY && Date.now() - lastAt < everyMs) return;
      lastAt = Date.now();
      write(`  … ${name.padEnd(10)} ${ended} of ${started} runs over, ${faults} faults${terminal.isTTY ? '' : '\n'}`);
    },
    done({ name, seconds, findings, error }, missed) {
      const verdict = missed.length === 0 ? 'all bars met' : `missed: ${missed.join(', ')}`;
      write(`  ${missed.length === 0 ? '✓' : 'x'} ${name.padEnd(10)} ${seconds.toFixed(1)} s  ${verdict}\n`);
      for (const detail of [...(error === undefined ? [] : [error]), ...(findings?.details ?? [])])
        terminal.write(`      ${detail}\n`);
    },
  };
}
