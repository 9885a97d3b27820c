import { spawnSync } from 'node:child_process';
import { v8Flags } from './service-process';

/** What V8 prints when a flag is set at run time. */
const toSaid = (flag: string): string => {
  const script = `require('node:v8').setFlagsFromString(${JSON.stringify(flag)})`;
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stderr;
};

describe('v8Flags', () => {
  it.each(v8Flags)('%s is known to this V8', (flag) => {
    expect(toSaid(flag)).toBe('');
  });

  it('would not be known by another name', () => {
    expect(toSaid('--interrupt-budget-of-old=20000')).toContain('unrecognized flag');
  });
});
