import { accountId } from '@rondo/contract';
import { pinSkills } from './pin-named';

const known = ['reports', 'csv-totals'].map((name) => ({
  ...{ skill_id: `skl_${name}`, name, version: 2, sha256: 'a'.repeat(64), description: `About ${name}.` },
}));
type Found = Awaited<ReturnType<Parameters<typeof pinSkills>[0]['findVersions']>>;

const skills: Parameters<typeof pinSkills>[0] = {
  findVersions: (_, named) =>
    Promise.resolve(
      named.map(({ name, version = 2 }) => known.find((one) => one.name === name && one.version === version)) as Found,
    ),
};

type Asked = Parameters<typeof pinSkills>[1];
const pin = (
  overrides: object,
  { tools = ['read_file'], definition }: { tools?: string[]; definition?: object } = {},
) =>
  pinSkills(skills, {
    accountId: accountId.parse('acc_someone'),
    ...({ overrides, definition, settings: { tools } } as Pick<Asked, 'overrides' | 'definition' | 'settings'>),
  });

describe('pinSkills', () => {
  it('keeps the newest version of each, by name, and nothing where none is named', async () => {
    const pinned = await pin({ skills: [{ name: 'reports' }, { name: 'csv-totals', version: 2 }] });
    expect(pinned.skills?.map(({ name, version }) => [name, version])).toEqual([
      ['csv-totals', 2],
      ['reports', 2],
    ]);
    expect(await pin({})).toEqual({});
  });

  it('takes those of the agent, unless the request names some', async () => {
    const definition = { skills: [{ name: 'reports' }] };
    expect((await pin({}, { definition })).skills).toMatchObject([{ name: 'reports' }]);
    expect((await pin({ skills: [{ name: 'csv-totals' }] }, { definition })).skills).toMatchObject([
      { name: 'csv-totals' },
    ]);
    expect(await pin({ skills: [] }, { definition })).toEqual({});
  });

  it('refuses a skill or a version that there is not, and tools that could not read one, by field', async () => {
    await expect(pin({ skills: [{ name: 'reports' }, { name: 'gone' }] })).rejects.toThrow(
      'skills.1: there is no skill named "gone"',
    );
    await expect(pin({ agent: { skills: [{ name: 'reports', version: 3 }] } })).rejects.toThrow(
      'agent.skills.0: there is no version 3 of a skill named "reports"',
    );
    await expect(pin({ skills: [{ name: 'reports' }] }, { tools: ['web_search'] })).rejects.toThrow(
      'skills: needs a tool that reads files',
    );
  });
});
