import { type AccountSettings, type SettingsRequest, settingsRequest } from '@rondo/contract';
import { type SettingsDefaults, effectiveSettings } from './effective-settings';

const createSettings = (request: Parameters<typeof effectiveSettings>[0]) => {
  const effective = effectiveSettings(request, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return effective.settings;
};

describe('effectiveSettings', () => {
  it('lets the run win over the agent and the agent over the profile, field by field', () => {
    const { limits, model, llm } = createSettings({
      limits: { max_iterations: 7 },
      agent: { model: 'demo/plain', limits: { max_iterations: 9, tool_timeout_s: 5 }, llm: { temperature: 1 } },
    });

    expect(limits).toMatchObject({ max_iterations: 7, tool_timeout_s: 5, max_duration_s: 3600 });
    expect(model).toBe('demo/plain');
    expect(llm).toEqual({ temperature: 1 });
  });

  it('puts what the account keeps between the profile and the agent, field by field', () => {
    const account: AccountSettings = {
      profile: 'ii',
      model: 'demo/slow',
      tools: { shell: false, see_image: { require_approval: true } },
      llm: { top_p: 0.5 },
      processor: { max_tool_calls: 3 },
      limits: { max_iterations: 9, tool_timeout_s: 5, max_duration_s: 60 },
      context: { keep_images: 7 },
      budget: { tokens: 1_000 },
    };
    const toSettings = (request: SettingsRequest) => {
      const effective = effectiveSettings(request, { model: 'demo/coder', account });
      if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
      return effective.settings;
    };

    const alone = toSettings({});
    expect(alone).toMatchObject({
      ...{ profile: 'ii', model: 'demo/slow', budget: { tokens: 1_000 } },
      limits: { max_iterations: 9, tool_timeout_s: 5, max_duration_s: 60 },
      ...{ processor: { max_tool_calls: 3 }, context: { keep_images: 7, strategy: 'head_tail' } },
      approvals: { rules: { see_image: true } },
    });
    expect(alone.llm).toEqual({ top_p: 0.5 });
    expect(alone.tools).not.toContain('bash');

    const agent = { model: 'demo/plain', tools: { shell: true }, limits: { max_iterations: 8, tool_timeout_s: 4 } };
    const overruled = toSettings({ profile: 'suna', agent, limits: { max_iterations: 7 } });
    expect(overruled).toMatchObject({
      ...{ profile: 'suna', model: 'demo/plain' },
      limits: { max_iterations: 7, tool_timeout_s: 4, max_duration_s: 60 },
    });
    expect(overruled.tools).toContain('execute_command');
  });

  it('leaves out a fallback of the account that cannot stand in for the model of the run', () => {
    const account: AccountSettings = { model: 'demo/slow', fallbacks: ['demo/plain', 'demo/coder'] };

    expect(effectiveSettings({ model: 'demo/plain' }, { model: 'demo/coder', account })).toMatchObject({
      settings: { model: 'demo/plain', fallbacks: [{ model: 'demo/coder' }] },
    });
  });

  it('names the part of a rule that leaves free what can do the same', () => {
    const account: AccountSettings = { tools: { create_file: { require_approval: true } } };

    expect(effectiveSettings({}, { model: 'demo/coder', account })).toMatchObject({
      problems: [{ field: 'account.tools.create_file.require_approval' }],
    });
  });

  it.each([
    ['the run', {}, { top_p: 0.9 }, { top_p: 0.9 }],
    ['the agent', { top_p: 0.9 }, {}, { top_p: 0.9 }],
    ['the run, over what the agent says', { temperature: 1 }, { top_p: 0.9 }, { top_p: 0.9 }],
    ['the agent, and the run a temperature', { top_p: 0.9 }, { temperature: 1 }, { top_p: 0.9, temperature: 1 }],
    ['the run, together with one', {}, { top_p: 0.9, temperature: 0.5 }, { top_p: 0.9, temperature: 0.5 }],
  ])('takes no temperature from before the part that gives top_p: %s', (_, agent, run, llm) => {
    expect(createSettings({ agent: { llm: agent }, llm: run }).llm).toEqual(llm);
    expect(createSettings({ profile: 'symphony', agent: { llm: agent }, llm: run }).llm).toEqual({
      max_tokens: 2048,
      ...llm,
    });
  });

  it('replaces aliases of models by their full names', () => {
    const aliases = new Map([['fast', 'openai/gpt-5-mini']]);
    const listModels = (request: SettingsRequest) => {
      const effective = effectiveSettings(request, { model: 'demo/coder', aliases });
      if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
      return [effective.settings.model, effective.settings.context.summary_model];
    };

    expect(listModels({ model: 'fast' })).toEqual(['openai/gpt-5-mini', undefined]);
    expect(listModels({ agent: { model: 'fast', context: { summary_model: 'fast' } } })).toEqual([
      'openai/gpt-5-mini',
      'openai/gpt-5-mini',
    ]);
    expect(listModels({ model: 'slow' })).toEqual(['slow', undefined]);
  });

  it('accepts the older name of max_tool_calls', () => {
    expect(createSettings({ processor: { max_xml_tool_calls: 2 } }).processor.max_tool_calls).toBe(2);
  });

  it('refuses both names of max_tool_calls with different values, and takes the same value twice', () => {
    const different = { processor: { max_tool_calls: 5, max_xml_tool_calls: 1 } };
    const listFields = (request: SettingsRequest) => {
      const effective = effectiveSettings(request, { model: 'demo/coder' });
      return 'problems' in effective ? effective.problems.map(({ field }) => field) : [];
    };

    expect(listFields(different)).toEqual(['processor.max_xml_tool_calls']);
    expect(listFields({ agent: different })).toEqual(['agent.processor.max_xml_tool_calls']);
    expect(listFields({ processor: { max_tool_calls: 5, max_xml_tool_calls: 5 } })).toEqual([]);
    expect(listFields({ agent: { processor: { max_xml_tool_calls: 1 } }, processor: { max_tool_calls: 5 } })).toEqual(
      [],
    );
  });

  it.each([
    ['append', 'user_message'],
    ['replace', 'inline_edit'],
    ['xml', 'inline_edit'],
  ] as const)('accepts the older names of xml_adding_strategy: %s is %s', (older, canonical) => {
    const asked = settingsRequest.parse({ processor: { xml_adding_strategy: older } });

    expect(createSettings(asked).processor.xml_adding_strategy).toBe(canonical);
    expect(createSettings({ agent: asked }).processor.xml_adding_strategy).toBe(canonical);
  });

  it.each([
    ['suna', {}, 'xml_invoke'],
    ['ii', {}, 'xml_invoke'],
    ['symphony', {}, 'json'],
    ['suna', { model: 'demo/coder' }, 'native'],
    ['suna', { processor: { dialect: 'native' } }, 'native'],
    ['suna', { agent: { processor: { dialect: 'xml_tag' } } }, 'xml_tag'],
  ] as const)(
    'uses the native dialect only if the model has tool calls or the request names it: %s, %j',
    (profile, asked, dialect) => {
      const request = { profile, model: 'local/old', ...asked };
      const hasToolCalls = (model: string) => model !== 'local/old';

      const effective = effectiveSettings(request, { model: 'demo/coder', hasToolCalls });

      expect(effective).toMatchObject({ settings: { processor: { dialect } } });
    },
  );

  it.each([
    [{}, 1],
    [{ max_turns: 10, keep_first: 4 }, 4],
    [{ max_turns: 4 }, 1],
    [{ max_turns: 3 }, 0],
    [{ max_turns: 1 }, 0],
  ])('keeps fewer first turns than half of max_turns, and reduces the default to what fits: %j', (asked, kept) => {
    expect(createSettings({ context: asked }).context.keep_first).toBe(kept);
  });

  it.each([
    ['tools', { tools: ['execute_command', 'fly'] }],
    ['tools', { tools: ['ask', 'ask'] }],
    ['context.keep_first', { context: { max_turns: 10, keep_first: 5 } }],
    ['context.keep_first', { agent: { context: { keep_first: 2 } }, context: { max_turns: 5 } }],
  ])('names the field that cannot be honoured: %s', (field, request) => {
    const effective = effectiveSettings(request, { model: 'demo/coder' });

    expect('problems' in effective && effective.problems.map((problem) => problem.field)).toEqual([field]);
  });
});

describe('the models that stand in for another', () => {
  const defaults: SettingsDefaults = {
    model: 'a/m',
    aliases: new Map([['short', 'b/m']]),
    fallbacks: new Map([['a/m', ['short', { model: 'c/old', on: ['timeout'] }, 'd/unpriced']]]),
    hasToolCalls: (model) => model !== 'c/old',
    hasPrice: (model) => model !== 'd/unpriced',
  };
  const findChain = (request: SettingsRequest) => {
    const effective = effectiveSettings(request, defaults);
    return 'problems' in effective ? effective.problems.map(({ field }) => field) : effective.settings.fallbacks;
  };

  it.each<[SettingsRequest, unknown]>([
    [{}, [{ model: 'b/m' }, { model: 'd/unpriced' }]],
    [{ budget: { usd: 1 } }, [{ model: 'b/m' }]],
    [{ processor: { dialect: 'json' }, budget: { usd: 1 } }, [{ model: 'b/m' }, { model: 'c/old', on: ['timeout'] }]],
    [{ model: 'e/m' }, undefined],
    [{ fallbacks: [] }, undefined],
    [{ fallbacks: [{ model: 'short', on: ['timeout'] }] }, [{ model: 'b/m', on: ['timeout'] }]],
    [{ fallbacks: [{ model: 'e/m', on: ['bad_request'] }] }, [{ model: 'e/m', on: ['invalid_request'] }]],
    [{ agent: { fallbacks: ['e/m'] } }, [{ model: 'e/m' }]],
    [{ agent: { fallbacks: ['e/m'] }, fallbacks: ['f/m'] }, [{ model: 'f/m' }]],
  ])('are those of the run, its agent or the deployment: %j', (request, chain) => {
    expect(findChain(request)).toEqual(chain);
  });

  it.each<[SettingsRequest, string]>([
    [{ fallbacks: ['e/m', 'a/m'] }, 'fallbacks.1'],
    [{ fallbacks: ['short', 'b/m'] }, 'fallbacks.1'],
    [{ fallbacks: ['c/old'] }, 'fallbacks.0'],
    [{ agent: { fallbacks: ['d/unpriced'] }, budget: { usd: 1 } }, 'agent.fallbacks.0'],
  ])('are refused where they cannot: %j', (request, field) => {
    expect(findChain(request)).toEqual([field]);
  });
});

describe('the budget of a deployment', () => {
  const model = 'demo/coder';
  const toBudget = (request: SettingsRequest, defaults: Partial<SettingsDefaults>) => {
    const effective = effectiveSettings(request, { model, ...defaults });
    return 'problems' in effective ? effective.problems : effective.settings.budget;
  };

  it('applies to a run that names none, unit by unit', () => {
    const defaults = { budget: { usd: 1, tokens: 1_000 } };

    expect(toBudget({}, defaults)).toEqual({ usd: 1, tokens: 1_000 });
    expect(toBudget({ agent: { budget: { usd: 3 } }, budget: { tokens: 5 } }, defaults)).toEqual({ usd: 3, tokens: 5 });
  });

  it('is in tokens alone when the model has no price', () => {
    expect(toBudget({}, { budget: { usd: 1, tokens: 9 }, hasPrice: () => false })).toEqual({ tokens: 9 });
  });

  it('bounds what a run may request, and the default', () => {
    const defaults = { maxBudget: { usd: 2, tokens: 100 }, budget: { usd: 5 } };

    expect(toBudget({}, defaults)).toEqual({ usd: 2, tokens: 100 });
    expect(toBudget({ budget: { usd: 2.5, tokens: 100 } }, defaults)).toEqual([
      { field: 'budget.usd', message: 'must be at most 2 on this deployment' },
    ]);
    expect(toBudget({ agent: { budget: { tokens: 101 } } }, defaults)).toEqual([
      { field: 'budget.tokens', message: 'must be at most 100 on this deployment' },
    ]);
  });
});

describe('the MCP servers of a run', () => {
  const tickets = { name: 'tickets', transport: 'sse', url: 'https://tickets.example/sse' } as const;
  const secret = { ...tickets, headers: { authorization: 'Bearer 1' } };

  it('are those of the run, or else those of its agent', () => {
    const agent = { mcp_servers: [{ ...tickets, name: 'agents' }] };
    expect(createSettings({ agent }).mcp_servers).toMatchObject([{ name: 'agents' }]);
    expect(createSettings({ agent, mcp_servers: [tickets] }).mcp_servers).toEqual([tickets]);
    expect(createSettings({ agent, mcp_servers: [] }).mcp_servers).toBeUndefined();
    expect(createSettings({ agent }).agent).not.toHaveProperty('mcp_servers');
  });

  it('have sealed headers, or are refused where nothing can be sealed', () => {
    const sealServer = () => ({ ...tickets, sealed_headers: { authorization: 'sealed' } });
    expect(effectiveSettings({ mcp_servers: [secret] }, { model: 'demo/coder', sealServer })).toMatchObject({
      settings: { mcp_servers: [{ sealed_headers: { authorization: 'sealed' } }] },
    });
    expect(effectiveSettings({ agent: { mcp_servers: [tickets, secret] } }, { model: 'demo/coder' })).toMatchObject({
      problems: [{ field: 'agent.mcp_servers.1.headers' }],
    });
  });
});

describe('attack: a name that every object has', () => {
  it.each(['constructor', 'prototype', 'toString'])('%s, as a tool', (name) => {
    const tools = JSON.parse(`{"${name}": {"enabled": true, "require_approval": false}}`) as unknown;
    for (const request of [{ tools }, { agent: { tools } }]) {
      const parsed = settingsRequest.safeParse(request);
      const problems = parsed.success ? effectiveSettings(parsed.data, { model: 'demo/coder' }) : parsed.error.issues;
      expect(JSON.stringify(problems)).toContain('there is no tool');
    }
  });
});
