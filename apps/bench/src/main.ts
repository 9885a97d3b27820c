import { writeFileSync } from 'node:fs';
import { runCommand } from '../../../deploy/local/command.mjs';
import { terminal as log } from '../../../deploy/local/progress.mjs';
import { Bench, type Owns } from './bench';
import { help, readOptions } from './config';
import { machine } from './machine/machine';
import { describe } from './report/table';
import { takeMeasures } from './take-measures';

async function measure({ owns }: { owns: Owns }): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    log.note(help);
    return 0;
  }
  const bench = new Bench(owns);
  const isPinned = bench.cores !== undefined;
  log.note(`${machine}; ${isPinned ? 'one core for Rondo, another for the load' : 'cores shared with the load'}`);
  const { taken, profiles } = await takeMeasures(bench, options, log);
  for (const text of [describe(taken), profiles]) if (text !== undefined) log.note(`\n${text}`);
  if (options.out !== undefined) {
    const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
    const report = { at: new Date().toISOString(), command, machine, isPinned, scale: options.scale, taken };
    writeFileSync(options.out, `${JSON.stringify(report, null, 2)}\n`);
  }
  return 0;
}

void runCommand(measure, { log, codeWhenInterrupted: 130 });
