import { accountId, runId } from '@rondo/contract';
import { SandboxFixture } from '../sandboxes/embedded/testing/sandbox-fixture';
import { findSkills } from './find-skills';
import { prepareWorkspace } from './prepare-workspace';
import { GitServer } from './testing/git-server';

describe('findSkills', () => {
  it('finds the skills of a repository, and leaves out what is none or leads out of it', async () => {
    const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: ${name} in order.\n${more}---\n`;
    const repository = await GitServer.open({
      '.claude/skills/deploy/SKILL.md': skill('deploy', 'other: 1\n'),
      '.agents/skills/deploy/SKILL.md': skill('deploy'),
      '.rondo/skills/audit/SKILL.md': skill('audit'),
      '.claude/skills/other-name/SKILL.md': skill('not-its-folder'),
      '.claude/skills/Upper/SKILL.md': skill('Upper'),
      '.claude/skills/long/SKILL.md': `---\nname: long\ndescription: ${'x'.repeat(2_000)}\n---\n`,
      '.claude/skills/bomb/SKILL.md': `---\nname: bomb\ndescription: &a [x]\nm: [${'*a, '.repeat(2_000)}1]\n---\n`,
      '.claude/skills/none/README.md': 'No skill.',
      '.claude/skills/link/SKILL.md -> /etc/passwd': '',
    });
    const reaching = await SandboxFixture.open({ egress: { internalHosts: [`127.0.0.1:${repository.port}`] } });
    const sandbox = await reaching.sandbox('thr_skills');
    const egress = reaching.provider.toEgress('thr_skills');
    const run = { account: accountId.parse('acc_1'), run: runId.parse('run_1') };
    const order = { ...run, egress, signal: new AbortController().signal };

    const { skills } = await prepareWorkspace(sandbox, { repository: { url: repository.url } }, order);
    expect(skills).toEqual(await findSkills(sandbox, 'site'));
    expect(skills).toEqual([
      { name: 'audit', description: 'audit in order.', path: 'site/.rondo/skills/audit' },
      { name: 'deploy', description: 'deploy in order.', path: 'site/.agents/skills/deploy' },
    ]);
    await reaching.close();
    await repository.close();
  });
});
