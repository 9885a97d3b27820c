import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { profileNames } from '@rondo/domain';
import { findProfile } from './find-profile';
import { profilesOfProviders } from './known-profiles';
import type { ProviderProfile } from './provider-profile';

const document = join(__dirname, '../../../../docs/models.md');

const reasoning: Record<NonNullable<ProviderProfile['reasoning']>, string> = {
  as_received: 'in the field that it came in',
  always: '`reasoning_content` with every call, even empty',
  details: '`reasoning_details`, as they came',
  signatures: 'the signature of each call',
  none: 'not sent',
};

function row(profile: ProviderProfile): string {
  const rules = [
    profile.noUserAfterTool && 'no user right after a tool',
    profile.textOnly && 'no images',
    profile.plainSchemas && 'a part of JSON Schema',
    profile.noStreamOptions && 'no `stream_options`',
    profile.except && 'not for its first reasoning models',
  ].filter(Boolean);
  const efforts = profile.efforts?.join(', ') ?? 'as asked';
  const documents = profile.documents
    ? { file: 'yes', image: 'yes, as images', none: 'no' }[profile.documents]
    : `no: ${profile.whyNoDocuments ?? 'not known, so declare it'}`;
  const cells = [
    profile.family,
    reasoning[profile.reasoning ?? 'as_received'],
    rules.join('; ') || 'none',
    documents,
    efforts,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The columns of a Markdown table, without the spaces that align them. */
const compact = (text: string): string => text.replace(/ +\|/g, ' |').replace(/\| +/g, '| ');

describe('the profiles of providers', () => {
  it('are those that the documents list', () => {
    const text = compact(readFileSync(document, 'utf8'));
    for (const line of profilesOfProviders.map(row)) expect(text).toContain(line);
    const [profiles = ''] = text.split('## What was seen to work');
    expect(profiles.match(/^\| [a-z]+ \|/gm)).toHaveLength(profilesOfProviders.length + 1);
  });

  it('are those that a provider can be declared to be like', () => {
    expect(new Set(profilesOfProviders.map(({ family }) => family))).toEqual(new Set(profileNames));
  });

  it.each(profileNames)('are found as %s, whatever the provider is called', (like) => {
    expect(findProfile({ name: 'groq', profile: { like, rules: {} } }, 'groq/some-model').family).toBe(like);
  });

  it('are overridden by what is declared', () => {
    const profile = { like: 'deepseek', rules: { textOnly: false } };
    expect(findProfile({ name: 'mine', profile }, 'mine/m')).toMatchObject({ reasoning: 'always', textOnly: false });
    expect(findProfile({ name: 'deepseek', profile: { rules: { reasoning: 'none' } } }, 'deepseek/m')).toMatchObject({
      reasoning: 'none',
      textOnly: true,
    });
  });

  it.each([
    [{ name: 'deepseek' }, 'deepseek/deepseek-v4-pro', 'always'],
    [{ name: 'deepseek' }, 'deepseek/deepseek-reasoner', 'none'],
    [{ name: 'mine', baseUrl: 'https://api.moonshot.ai/v1' }, 'mine/some-model', 'always'],
    [
      { name: 'mine', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai' },
      'mine/gemini-3',
      'signatures',
    ],
    [{ name: 'vllm' }, 'vllm/kimi-k2-thinking', 'always'],
    [{ name: 'litellm' }, 'litellm/gemini-3-pro', 'as_received'],
    [{ name: 'openrouter' }, 'openrouter/moonshotai/kimi-k2', 'details'],
    [{ name: 'acme' }, 'acme/some-model', undefined],
  ])('are found for %j and %s', (provider, model, expected) => {
    expect(findProfile(provider, model).reasoning).toBe(expected);
  });
});
