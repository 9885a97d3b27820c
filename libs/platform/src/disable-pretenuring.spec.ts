import { spawnSync } from 'node:child_process';
import { pretenuringFlag } from './disable-pretenuring';

/** What V8 prints when a flag is set at run time. */
const toSaid = (flag: string): string => {
  const script = `require('node:v8').setFlagsFromString(${JSON.stringify(flag)})`;
  return spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stderr;
};

describe('disablePretenuring', () => {
  it('sets a flag that this V8 knows', () => {
    expect(toSaid(pretenuringFlag)).toBe('');
    expect(toSaid(`${pretenuringFlag}-of-old`)).toContain('unrecognized flag');
  });
});
