import type { ApprovalRule } from '@rondo/contract';
import { builtInTools } from './catalog';
import { requiresApproval } from './approval-rules';

const needsApproval = (rules: Record<string, ApprovalRule>, name: string, given: Record<string, unknown> = {}) =>
  requiresApproval(
    { settings: { approvals: { rules, expires_s: 60 } }, tools: builtInTools },
    { name, arguments: given },
  );

describe('which calls need approval', () => {
  it('is none without rules', () => {
    const call = { name: 'execute_command', arguments: {} };
    expect(requiresApproval({ settings: {}, tools: builtInTools }, call)).toBe(false);
    expect(needsApproval({}, 'execute_command')).toBe(false);
  });

  it('is by the name of a tool, of what it stands for, and of its group, the nearest first', () => {
    expect(needsApproval({ execute_command: true }, 'execute_command')).toBe(true);
    expect(needsApproval({ execute_command: true }, 'bash')).toBe(true);
    expect(needsApproval({ execute_command: true }, 'read_file')).toBe(false);
    expect(needsApproval({ shell: true }, 'bash')).toBe(true);
    expect(needsApproval({ shell: true, bash: false }, 'bash')).toBe(false);
    expect(needsApproval({ shell: false, execute_command: true }, 'bash')).toBe(true);
    expect(needsApproval({ constructor: true }, 'execute_command')).toBe(false);
  });

  it.each([
    ['rm *', 'rm -rf /', true],
    ['rm *', 'ls; rm x', false],
    ['*rm *', 'ls; rm x', true],
    ['*', '', true],
    ['rm', 'rm', true],
    ['rm', 'rm x', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'ac', false],
    ['ab*bc', 'abc', false],
    ['a**c', 'abc', true],
    ['*git push*', 'cd x\ngit push --force', true],
    ['[a-z]*', 'rm', false],
  ])('is by a pattern of an argument: %s on %j is %s', (pattern, command, expected) => {
    expect(needsApproval({ execute_command: [{ command: pattern }] }, 'execute_command', { command })).toBe(expected);
  });

  it('is by all arguments of a pattern, and by any of the patterns', () => {
    const rule = [{ method: 'POST', url: 'https://pay.example/*' }, { method: 'DELETE' }];

    expect(needsApproval({ http_request: rule }, 'http_request', { method: 'DELETE' })).toBe(true);
    expect(needsApproval({ http_request: rule }, 'http_request', { method: 'POST' })).toBe(false);
    expect(
      needsApproval({ http_request: rule }, 'http_request', { method: 'POST', url: 'https://pay.example/1' }),
    ).toBe(true);
  });

  it('is by the parameters of an alias or of its target, and by values that are no text', () => {
    const write = { path: 'secrets.env', content: 'x' };
    expect(needsApproval({ writeFile: [{ path: '*.env' }] }, 'writeFile', write)).toBe(true);
    expect(needsApproval({ write_file: [{ file_path: '*.env' }] }, 'writeFile', write)).toBe(true);
    expect(needsApproval({ execute_command: [{ blocking: 'false' }] }, 'execute_command', { blocking: false })).toBe(
      true,
    );
  });

  it('takes linear time for hostile arguments', () => {
    const before = process.cpuUsage();
    const rule = [{ command: `${'*a'.repeat(400)}*b` }];
    needsApproval({ execute_command: rule }, 'execute_command', { command: 'a'.repeat(500_000) });

    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000); // microseconds
  });
});
