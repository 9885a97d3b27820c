import { exitCodes } from './exit-codes';
import { runCommandLine } from './run-command-line';

/** A reader such as `head` that ends first is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { stdin: input, stdout: output, stderr: errors } = process;
void runCommandLine(process.argv.slice(2), { input, output, errors }).then((ending) => {
  process.exitCode = exitCodes[ending].code;
});
