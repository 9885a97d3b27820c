import { exitCodes } from './exit-codes';
import { runCommandLine } from './run-command-line';

/** A reader such as `head` that ends first is no error. Results go on where only what is said about them is not read. */
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) process.exit(0);
  });

const { stdin: input, stdout: output, stderr: errors } = process;
void runCommandLine(process.argv.slice(2), { input, output, errors }).then((ending) => {
  process.exitCode = exitCodes[ending].code;
});
