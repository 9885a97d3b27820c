import { spawnSync } from 'node:child_process';
import { pretenuringFlag } from './disable-pretenuring';

/** What V8 writes when it is given a flag while it runs. */
const saidOf = (flag: string): string => {
  const script = `require('node:v8').setFlagsFromString(${JSON.stringify(flag)})`;
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stderr;
};

describe('bornYoung', () => {
  it('sets a flag that this V8 knows', () => {
    expect(saidOf(pretenuringFlag)).toBe('');
    expect(saidOf(`${pretenuringFlag}-of-old`)).toContain('unrecognized flag');
  });
});
